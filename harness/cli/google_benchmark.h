// Google Benchmark's own flags, as far as they mean something here, and its reports.
//
// Each implementation and pass of a timed case is one benchmark, named
// <case id>/<implementation>/<pass>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/record.h"
#include "harness/sweep/case.h"

namespace tigon::harness {

struct GoogleBenchmarkFlags {
  std::string filter;                  // --benchmark_filter=<regex>, "-<regex>" for its opposite
  bool list_tests = false;             // --benchmark_list_tests
  std::optional<int64_t> repetitions;  // --benchmark_repetitions=<rounds>
  std::string out;                     // --benchmark_out=<file>
  std::string out_format = "json";     // --benchmark_out_format=<console|json|csv>
  bool counters_tabular = false;       // --benchmark_counters_tabular

  bool any() const;
};

// Takes `argument` if it is one of these flags and returns true; false when it does not begin with
// --benchmark_. Throws std::invalid_argument for a Google Benchmark flag that is not passed on, or
// a value that cannot be read.
bool take_google_benchmark_flag(const std::string& argument, GoogleBenchmarkFlags& flags);

// The benchmarks that a timed case has.
std::vector<std::string> benchmark_names(const Case& c, bool has_library);
// Whether the filter keeps a benchmark of this name.
bool matches_benchmark_filter(const GoogleBenchmarkFlags& flags, const std::string& name);

// The timed rows as Google Benchmark reports them, on `out` (console) or in the file that the flags
// name. Throws std::runtime_error when the file cannot be written.
void report_as_google_benchmark(const GoogleBenchmarkFlags& flags,
                                const std::vector<SpeedRecord>& records, std::ostream& out);

}  // namespace tigon::harness
