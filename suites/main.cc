// The binary of every suite; TIGON_SUITE is the target's name.
#include "harness/cli/cli.h"
#include "suites/suites.h"

int main(int argc, char** argv) {
  return tigon::harness::run_command_line(argc, argv, TIGON_SUITE,
                                          tigon::suites::suite(TIGON_SUITE));
}
