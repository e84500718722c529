#include "harness/cli/google_benchmark.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iostream>
#include <memory>
#include <regex>
#include <stdexcept>

#include "harness/record/results.h"

namespace tigon::harness {
namespace {

constexpr std::string_view kPrefix = "--benchmark_";
constexpr std::string_view kPassedOn =
    "--benchmark_filter, --benchmark_list_tests, --benchmark_repetitions, --benchmark_out, "
    "--benchmark_out_format and --benchmark_counters_tabular";

bool parse_bool(std::string_view flag, std::string_view value) {
  if (value.empty() || value == "true" || value == "1" || value == "yes") return true;
  if (value == "false" || value == "0" || value == "no") return false;
  throw std::invalid_argument(fmt::format("{} is \"{}\", expected true or false", flag, value));
}

int64_t parse_repetitions(std::string_view flag, std::string_view value) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < 1) {
    throw std::invalid_argument(
        fmt::format("{} is \"{}\", expected a whole number of at least 1", flag, value));
  }
  return number;
}

void check_regex(std::string_view flag, const std::string& filter) {
  try {
    const std::regex compiled(filter.starts_with("-") ? filter.substr(1) : filter);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(
        fmt::format("{} is \"{}\", expected a regular expression: {}", flag, filter, error.what()));
  }
}

using Run = benchmark::BenchmarkReporter::Run;

Run to_run(const SpeedRecord& record) {
  Run run;
  run.run_name.function_name =
      fmt::format("{}/{}/{}", record.case_id, record.implementation, record.pass);
  run.iterations = record.samples.value_or(0);
  const double seconds = record.time_us.value_or(0) * 1e-6;
  run.real_accumulated_time = seconds * static_cast<double>(run.iterations);
  run.time_unit = benchmark::kMicrosecond;
  run.repetitions = 1;
  run.threads = 1;
  const auto counter = [&run](const char* name, const auto& value) {
    if (value) run.counters[name] = benchmark::Counter(static_cast<double>(*value));
  };
  counter("p10_us", record.time_p10_us);
  counter("p90_us", record.time_p90_us);
  counter("roof_share", record.roof_share);
  counter("speedup", record.speedup_vs_eager);
  counter("peak_bytes", record.peak_bytes);
  run.report_label = std::string(to_string(record.status));
  if (!record.time_us) {
    run.error_occurred = true;
    run.error_message = record.reason.empty() ? "not timed" : record.reason;
  }
  return run;
}

std::unique_ptr<benchmark::BenchmarkReporter> make_reporter(const std::string& format,
                                                            bool tabular) {
  using Console = benchmark::ConsoleReporter;
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
  if (format == "csv") {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
  }
  return std::make_unique<Console>(tabular ? Console::OO_Tabular : Console::OO_None);
}

void report(benchmark::BenchmarkReporter& reporter, const std::vector<Run>& runs,
            std::ostream& out) {
  reporter.SetOutputStream(&out);
  // The library's own remarks (how it was built, whether clocks scale) are about its timer, which
  // is not used: times are manual.
  std::ostream silent(nullptr);
  reporter.SetErrorStream(&silent);
  benchmark::BenchmarkReporter::Context context;
  context.name_field_width = 0;
  for (const Run& run : runs) {
    context.name_field_width = std::max(context.name_field_width, run.benchmark_name().size());
  }
  reporter.ReportContext(context);
  reporter.ReportRuns(runs);
  reporter.Finalize();
}

}  // namespace

bool GoogleBenchmarkFlags::any() const {
  return !filter.empty() || list_tests || repetitions || !out.empty() || out_format != "json" ||
         counters_tabular;
}

bool take_google_benchmark_flag(const std::string& argument, GoogleBenchmarkFlags& flags) {
  if (!argument.starts_with(kPrefix)) return false;
  const size_t equals = argument.find('=');
  const std::string flag = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  const auto needs_value = [&] {
    if (value.empty()) {
      throw std::invalid_argument(fmt::format("{} is empty, expected {}=VALUE", flag, flag));
    }
  };
  if (flag == "--benchmark_filter") {
    needs_value();
    check_regex(flag, value);
    flags.filter = value;
  } else if (flag == "--benchmark_list_tests") {
    flags.list_tests = parse_bool(flag, value);
  } else if (flag == "--benchmark_repetitions") {
    flags.repetitions = parse_repetitions(flag, value);
  } else if (flag == "--benchmark_out") {
    needs_value();
    flags.out = value;
  } else if (flag == "--benchmark_out_format") {
    if (value != "json" && value != "csv" && value != "console") {
      throw std::invalid_argument(
          fmt::format("{} is \"{}\", expected console, json or csv", flag, value));
    }
    flags.out_format = value;
  } else if (flag == "--benchmark_counters_tabular") {
    flags.counters_tabular = parse_bool(flag, value);
  } else {
    throw std::invalid_argument(
        fmt::format("{} is not passed on to Google Benchmark; {} are", flag, kPassedOn));
  }
  return true;
}

std::vector<std::string> benchmark_names(const Case& c, bool has_library) {
  std::vector<std::string> names;
  for (const std::string_view implementation :
       {implementation::kFused, implementation::kEager, implementation::kLibrary}) {
    if (implementation == implementation::kLibrary && !has_library) continue;
    for (const std::string_view pass : {pass::kForward, pass::kBackward, pass::kStep}) {
      names.push_back(fmt::format("{}/{}/{}", c.id(), implementation, pass));
    }
  }
  return names;
}

bool matches_benchmark_filter(const GoogleBenchmarkFlags& flags, const std::string& name) {
  if (flags.filter.empty() || flags.filter == "all") return true;
  const bool negated = flags.filter.starts_with("-");
  const std::regex regex(negated ? flags.filter.substr(1) : flags.filter);
  return std::regex_search(name, regex) != negated;
}

void report_as_google_benchmark(const GoogleBenchmarkFlags& flags,
                                const std::vector<SpeedRecord>& records, std::ostream& out) {
  std::vector<Run> runs;
  for (const SpeedRecord& record : records) {
    if (record.pass == pass::kVerify) continue;
    Run run = to_run(record);
    if (matches_benchmark_filter(flags, run.benchmark_name())) runs.push_back(std::move(run));
  }
  report(*make_reporter("console", flags.counters_tabular), runs, out);
  if (flags.out.empty()) return;
  const std::filesystem::path path = from_caller(flags.out);
  std::ofstream file(path);
  report(*make_reporter(flags.out_format, false), runs, file);
  file.close();
  if (!file) {
    throw std::runtime_error(fmt::format("--benchmark_out: {} cannot be written", path.string()));
  }
}

}  // namespace tigon::harness
