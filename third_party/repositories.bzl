"""Everything that Tigon is built from and that is not in this repository."""

load("//third_party/cuda:repository.bzl", "cuda_repository")
load("//third_party/libtorch:repository.bzl", "libtorch_repository")
load("//third_party/system:repository.bzl", "system_library")

def tigon_repositories():
    libtorch_repository(name = "libtorch")
    cuda_repository(name = "cuda")
    system_library(
        name = "eigen",
        header = "eigen3/Eigen/Core",
        include = "eigen3",
        package = "libeigen3-dev",
    )
    system_library(
        name = "gtest",
        header = "gtest/gtest.h",
        linkopts = ["-lgtest", "-pthread"],
        more = {"gtest_main": "-lgtest_main"},
        package = "libgtest-dev",
    )
    system_library(
        name = "google_benchmark",
        header = "benchmark/benchmark.h",
        linkopts = ["-lbenchmark", "-pthread"],
        package = "libbenchmark-dev",
    )
    system_library(
        name = "fast_cpp_csv_parser",
        header = "libfccp/csv.h",
        include = "libfccp",
        linkopts = ["-pthread"],
        package = "libfccp-dev",
    )
    system_library(
        name = "nlohmann_json",
        header = "nlohmann/json.hpp",
        package = "nlohmann-json3-dev",
    )
    system_library(
        name = "cli11",
        header = "CLI/CLI.hpp",
        package = "libcli11-dev",
    )
    system_library(
        name = "fmt",
        header = "fmt/format.h",
        linkopts = ["-lfmt"],
        package = "libfmt-dev",
    )
