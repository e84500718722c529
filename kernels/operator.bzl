"""tigon_operator: all targets of one operator's folder."""

load("//kernels:cuda.bzl", "cuda_library")

# What each build of a CPU kernel may use; chosen at run time (kernels/core/cpu/capability.h).
_CPU_CAPABILITIES = {
    "default": [],
    "avx2": ["-mavx2", "-mfma", "-mf16c"],
    "avx512": [
        "-mavx512f",
        "-mavx512bw",
        "-mavx512dq",
        "-mavx512vl",
        "-mfma",
        "-mf16c",
        # GCC 12 warns about its own AVX-512 intrinsics (GCC bug 105593).
        "-Wno-maybe-uninitialized",
    ],
}

_KERNEL_DEPS = ["//kernels/core:scalar_type"]

def tigon_cpu_kernels(name, impl, srcs = [], hdrs = [], deps = []):
    """A library of CPU kernels: entry points, and implementations built for each CPU capability.

    Args:
      name: the target's name.
      impl: files that are compiled once for each capability, with -DTIGON_CPU_CAPABILITY=<it>.
      srcs: the entry points, compiled once with plain flags.
      hdrs: headers of both.
      deps: header libraries of both.
    """
    deps = deps + _KERNEL_DEPS + ["//kernels/core:cpu_headers"]
    builds = []
    if impl:
        for capability, flags in _CPU_CAPABILITIES.items():
            build = "%s_%s" % (name, capability)
            native.cc_library(
                name = build,
                srcs = impl + hdrs,
                copts = ["-O3", "-fopenmp"] + flags,
                local_defines = ["TIGON_CPU_CAPABILITY=" + capability],
                visibility = ["//visibility:private"],
                deps = deps,
            )
            builds.append(build)
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = ["-fopenmp"],
        linkopts = ["-fopenmp"],
        deps = deps + builds + ["//kernels/core:cpu"],
    )
    if builds:
        native.sh_test(
            name = name + "_baseline_test",
            size = "small",
            srcs = ["//kernels/core:baseline_test.sh"],
            args = ["$(rootpaths %s)" % build for build in builds],
            data = builds,
        )

def tigon_operator(name, deps = [], cpu_deps = [], cuda_deps = []):
    """The targets of kernels/<name>/, by the names of its files; a file that is absent is left out.

    :<name>          <name>.h and <name>.cc with its kernels: registers the operator (alwayslink);
                     its in-place form is <name>_inplace.cc, and what the two share of
                     the backward <name>_backward.h
    :<name>_kernels  <name>_kernels.h, free of any framework
    :<name>_cpu      <name>_cpu*.cc; <name>_cpu_impl.cc and <name>_cpu_*_impl.cc are compiled once for
                     each CPU capability
    :<name>_cuda     <name>*.cu with the folder's .cuh files
    :<name>_mutants  <name>_mutants.cc and <name>_mutants.cu: broken twins (alwayslink)
    :<file>_test     every <file>_test.cc

    Args:
      name: the operator, which is the folder's name too.
      deps: further libraries of <name>.cc.
      cpu_deps: further header libraries of the CPU kernels.
      cuda_deps: further libraries of the CUDA kernels.
    """
    native.package(default_visibility = ["//visibility:public"])
    kernels = ":%s_kernels" % name
    cpu = ":%s_cpu" % name
    cuda = ":%s_cuda" % name

    native.cc_library(
        name = name + "_kernels",
        hdrs = [name + "_kernels.h"],
        deps = _KERNEL_DEPS,
    )

    tests = native.glob(["*_test.cc"], allow_empty = True)
    impl = native.glob(["%s_cpu_impl.cc" % name, "%s_cpu_*_impl.cc" % name], allow_empty = True)
    tigon_cpu_kernels(
        name = name + "_cpu",
        impl = impl,
        srcs = native.glob(["%s_cpu*.cc" % name], exclude = impl + tests, allow_empty = True),
        hdrs = native.glob(["%s_cpu*.h" % name], allow_empty = True),
        deps = [kernels] + cpu_deps,
    )
    cuda_library(
        name = name + "_cuda",
        srcs = native.glob(["*.cu"], exclude = ["*_mutants.cu", "*_test.cu"], allow_empty = True),
        hdrs = native.glob(["*.cuh"], allow_empty = True),
        deps = [kernels, "//kernels/core:cuda_headers"] + cuda_deps,
    )
    native.cc_library(
        name = name,
        srcs = [name + ".cc"] + native.glob(
            ["%s_inplace.cc" % name, "%s_backward.h" % name],
            allow_empty = True,
        ),
        hdrs = [name + ".h"],
        deps = [kernels, cpu, cuda, "//kernels/core", "@libtorch"] + deps,
        alwayslink = 1,
    )

    mutant_deps = [kernels, cpu, cuda]
    if native.glob(["%s_mutants.cu" % name], allow_empty = True):
        cuda_library(
            name = name + "_mutants_cuda",
            srcs = [name + "_mutants.cu"],
            hdrs = native.glob(["*.cuh"], allow_empty = True),
            deps = [kernels, "//kernels/core:cuda_headers"] + cuda_deps,
        )
        mutant_deps.append(":%s_mutants_cuda" % name)
    if native.glob(["%s_mutants.cc" % name], allow_empty = True):
        native.cc_library(
            name = name + "_mutants",
            srcs = [name + "_mutants.cc"] + native.glob(["%s_mutants*.h" % name], allow_empty = True),
            copts = ["-fopenmp"],
            linkopts = ["-fopenmp"],
            deps = mutant_deps + [
                "//kernels/core",
                "//kernels/core:cpu",
                "//kernels/core:cuda_headers",
                "@libtorch",
            ],
            alwayslink = 1,
        )

    for test in tests:
        native.cc_test(
            name = test[:-len(".cc")],
            srcs = [test],
            copts = ["-fopenmp"],
            linkopts = ["-fopenmp"],
            deps = [
                ":" + name,
                kernels,
                cpu,
                cuda,
                "//kernels/core",
                "//kernels/core:cpu",
                "//kernels/core/testing:operator_testing",
                "//reference/eager:" + name,
                "//reference/eigen:" + name,
                "@gtest//:gtest_main",
                "@libtorch",
            ],
        )
