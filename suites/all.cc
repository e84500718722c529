#include <stdexcept>
#include <string>

#include "suites/suites.h"

namespace tigon::suites {

std::vector<harness::Operator> suite(std::string_view name) {
  std::vector<harness::Operator> chosen;
  for (auto* make : {
           rms_norm,
           swiglu,
       }) {
    harness::Operator op = make();
    if (name == "all" || name == op.name) chosen.push_back(std::move(op));
  }
  if (chosen.empty()) throw std::invalid_argument("no suite \"" + std::string(name) + "\"");
  return chosen;
}

}  // namespace tigon::suites
