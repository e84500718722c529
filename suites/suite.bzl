"""tigon_suite: a binary that checks and measures operators."""

def tigon_suite(name):
    """`bazel run //suites:<name>`: the operator of that name, or every operator for `all`."""
    native.cc_binary(
        name = name,
        srcs = ["main.cc"],
        data = ["//kernels:libtigon_mutants.so"],
        linkopts = ["-fopenmp"],
        local_defines = ["TIGON_SUITE=\\\"%s\\\"" % name],
        deps = [":suites"],
    )
