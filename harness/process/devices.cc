#include "harness/process/devices.h"

#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>

namespace tigon::harness {
namespace {

// Lets one device at a time through to the sink.
class SerialSink : public JobSink {
 public:
  explicit SerialSink(JobSink& sink) : sink_(sink) {}

  void on_hello(const std::string& device, const nlohmann::json& hello) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    sink_.on_hello(device, hello);
  }
  void on_started(const std::string& device, const Job& job) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    sink_.on_started(device, job);
  }
  void on_stage(const std::string& device, const Job& job, const std::string& stage) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    sink_.on_stage(device, job, stage);
  }
  void on_row(const std::string& device, const Job& job, const nlohmann::json& row) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    sink_.on_row(device, job, row);
  }
  void on_finished(const std::string& device, const Job& job, const Outcome& outcome) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    sink_.on_finished(device, job, outcome);
  }

 private:
  JobSink& sink_;
  std::mutex mutex_;
};

}  // namespace

std::vector<RunSummary> run_on_devices(const std::vector<DevicePlan>& plans, JobSink& sink,
                                       StopFlag& stop, const SupervisorOptions& options) {
  std::vector<RunSummary> summaries(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].exclusive) summaries[i] = run_jobs(plans[i], sink, stop, options);
  }
  SerialSink serial(sink);
  std::vector<std::exception_ptr> failures(plans.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].exclusive) continue;
    threads.emplace_back([&, i] {
      try {
        summaries[i] = run_jobs(plans[i], serial, stop, options);
      } catch (...) {
        failures[i] = std::current_exception();
        stop.request();
      }
    });
  }
  for (std::jthread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return summaries;
}

}  // namespace tigon::harness
