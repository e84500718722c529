#include "harness/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "harness/sweep/suggest.h"

namespace tigon::harness {
namespace {

struct VerbText {
  Verb verb;
  std::string_view name, help;
};

constexpr VerbText kVerbs[] = {
    {Verb::kRun, "run", "verify every case and measure memory and time of those that are timed"},
    {Verb::kList, "list", "print the cases that a run would take"},
    {Verb::kVerify, "verify", "verify only: right or wrong, nothing is timed"},
    {Verb::kBench, "bench", "the timed cases only (verified first, as always)"},
    {Verb::kMutants, "mutants", "prove the checks: every broken twin has to be rejected"},
};

constexpr std::string_view kExitCodes =
    "Exit codes: 0 all right; 11 a result is wrong; 12 something could not be measured (crash, "
    "timeout,\nout of memory, invalid); 13 the call or the machine is at fault.";

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const VerbText& verb : kVerbs) names.emplace_back(verb.name);
  return names;
}

std::optional<Verb> find_verb(std::string_view name) {
  for (const VerbText& verb : kVerbs) {
    if (verb.name == name) return verb.verb;
  }
  return std::nullopt;
}

// A case pattern has a slash or a wildcard; a lone word is meant to be a verb.
bool looks_like_pattern(std::string_view text) {
  return text.find_first_of("/*?[") != std::string_view::npos;
}

std::string overview(std::string_view suite) {
  std::string text = fmt::format(
      "Checks and measures Tigon's fused kernels on this machine.\n\n"
      "Usage: bazel run //suites:{} -- [VERB] [CASE...] [OPTION...]\n\nVerbs:\n",
      suite);
  for (const VerbText& verb : kVerbs) {
    text += fmt::format("  {:<9}{}{}\n", verb.name, verb.help,
                        verb.verb == Verb::kRun ? " (default)" : "");
  }
  text += "\n`VERB --help` shows a verb's options; without a verb they are those of run:\n\n";
  return text;
}

// Google Benchmark's flags are taken out first: its own names, its own syntax.
std::vector<std::string> take_benchmark_flags(const std::vector<std::string>& arguments,
                                              GoogleBenchmarkFlags& flags) {
  std::vector<std::string> rest;
  for (const std::string& argument : arguments) {
    if (!take_google_benchmark_flag(argument, flags)) rest.push_back(argument);
  }
  return rest;
}

// May be repeated, and takes one argument each time: a CASE that follows is left to stand.
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& list,
                      const std::string& help) {
  return app.add_option(name, list, help)->allow_extra_args(false);
}

void add_options(CLI::App& app, Options& options, std::string& preset, std::string& out) {
  const bool writes =
      options.verb == Verb::kRun || options.verb == Verb::kVerify || options.verb == Verb::kBench;
  app.add_option("CASE", options.filter.patterns,
                 "globs on case ids (* crosses /), or /regular expressions/");
  add_list(app, "--operator", options.filter.operators, "only these operators")->delimiter(',');
  add_list(app, "--axis", options.filter.axes,
           "only these points: hidden=4096,8192 or rows=1..64 or rows=1024..16384*2");
  add_list(app, "--dtype", options.filter.dtypes, "only these: fp32, bf16, fp16")->delimiter(',');
  add_list(app, "--profile", options.filter.profiles, "only these ways of drawing inputs")
      ->delimiter(',');
  app.add_flag("--regex", options.filter.regex, "CASE arguments are regular expressions");
  add_list(app, "--device", options.devices,
           "cpu, cuda (every GPU), cuda:N or all; default: every GPU, else the CPU")
      ->delimiter(',');
  app.add_option("--preset", preset, "smoke (seconds), default (minutes) or full (an hour)")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of everything that is drawn")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--timeout", options.timeout_s,
                 "seconds that a worker may be silent before its case counts as hung")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  if (!writes) return;
  app.add_option("--out", out,
                 "folder for the results; default: tigon-results/<time> below the current folder");
  app.add_flag("--resume", options.resume,
               "go on with the results in --out: what is finished stands, the rest is run");
  app.add_flag("--dry-run", options.dry_run, "print the plan and stop");
}

std::string footer(Verb verb) {
  std::string text;
  if (verb == Verb::kRun || verb == Verb::kBench) {
    text +=
        "Google Benchmark's flags that are passed on: --benchmark_filter, --benchmark_list_tests,\n"
        "--benchmark_repetitions, --benchmark_out, --benchmark_out_format, "
        "--benchmark_counters_tabular.\n\n";
  }
  return text + std::string(kExitCodes);
}

}  // namespace

std::string_view to_string(Verb verb) {
  for (const VerbText& text : kVerbs) {
    if (text.verb == verb) return text.name;
  }
  return "unknown";
}

ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments,
                                     std::string_view suite) {
  ParsedCommandLine parsed;
  Options& options = parsed.options;
  std::vector<std::string> rest;
  try {
    rest = take_benchmark_flags(arguments, options.benchmark);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  bool named_verb = false;
  if (!rest.empty() && !rest.front().starts_with("-")) {
    if (const auto verb = find_verb(rest.front())) {
      options.verb = *verb;
      named_verb = true;
      rest.erase(rest.begin());
    } else if (!looks_like_pattern(rest.front())) {
      throw UsageError(unknown_name("verb", rest.front(), verb_names()));
    }
  }
  if (options.benchmark.any() && options.verb != Verb::kRun && options.verb != Verb::kBench) {
    throw UsageError(fmt::format("Google Benchmark's flags go with run and bench, not with {}",
                                 to_string(options.verb)));
  }

  CLI::App app(std::string(kVerbs[static_cast<size_t>(options.verb)].help));
  app.name(fmt::format("bazel run //suites:{} -- {}", suite, to_string(options.verb)));
  app.get_formatter()->column_width(26);
  app.footer(footer(options.verb));
  std::string preset = "default", out;
  add_options(app, options, preset, out);
  std::reverse(rest.begin(), rest.end());  // CLI11 takes its vector from the back
  try {
    app.parse(rest);
  } catch (const CLI::CallForHelp&) {
    parsed.help = (named_verb ? "" : overview(suite)) + app.help();
    return parsed;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (see --help)", error.what()));
  }
  for (const std::string& pattern : options.filter.patterns) {
    if (find_verb(pattern)) {
      throw UsageError(fmt::format("{} has to be the first argument", pattern));
    }
  }
  try {
    options.preset = parse_preset(preset);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--preset: {}", error.what()));
  }
  if (!out.empty()) options.out = out;
  if (options.resume && !options.out) {
    throw UsageError("--resume needs --out=FOLDER, the folder of the results to go on with");
  }
  return parsed;
}

}  // namespace tigon::harness
