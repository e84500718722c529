#include "reference/eigen/shape_check.h"

#include <stdexcept>
#include <string>

namespace tigon::reference {
namespace {

std::string shape(const Matrix& m) {
  return "[" + std::to_string(m.rows()) + ", " + std::to_string(m.cols()) + "]";
}

}  // namespace

void check_same_shape(const char* op, const char* name, const Matrix& got, const char* like,
                      const Matrix& want) {
  if (got.rows() == want.rows() && got.cols() == want.cols()) return;
  throw std::invalid_argument(std::string(op) + ": " + name + " is " + shape(got) +
                              ", wants the shape of " + like + ", " + shape(want));
}

void check_weight(const char* op, const Vector* weight, const Matrix& x) {
  if (weight == nullptr || weight->size() == x.cols()) return;
  throw std::invalid_argument(std::string(op) + ": weight has " + std::to_string(weight->size()) +
                              " elements, wants " + std::to_string(x.cols()) +
                              ", the last size of x, which is " + shape(x));
}

}  // namespace tigon::reference
