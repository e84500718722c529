"""cuda_library: .cu files compiled by nvcc for the GPU architectures of --//kernels:cuda_archs."""

load("@cuda//:toolkit.bzl", "CUDA_HOME", "CUDA_VERSION", "GPU_ARCHITECTURES")

BuildSetting = provider(fields = ["value"])

# Suffixes of features that only one architecture or family has; nvcc's own list leaves them out.
_FEATURES = ["", "a", "f"]

def _gencode(label, archs):
    """The -gencode options for a list such as ["80", "90a", "ptx"]."""
    known = [arch + feature for arch in GPU_ARCHITECTURES for feature in _FEATURES]
    codes = []
    for arch in archs:
        arch = arch.strip()
        arch = arch[len("sm_"):] if arch.startswith("sm_") else arch
        if arch != "ptx" and arch not in known:
            fail("--//kernels:cuda_archs: '%s' is none of CUDA %s's (%s, or ptx for PTX of the newest listed); needed by %s" %
                 (arch, CUDA_VERSION, ", ".join(GPU_ARCHITECTURES), label))
        if arch not in codes:
            codes.append(arch)
    binaries = [code for code in codes if code != "ptx"]
    if not binaries:
        fail("--//kernels:cuda_archs wants at least one architecture, such as 80 or 90a; got '%s'" % ",".join(archs))
    options = ["-gencode=arch=compute_%s,code=sm_%s" % (code, code) for code in binaries]
    if "ptx" in codes:
        # PTX of 90a would run on nothing but Hopper; that of 90 runs on what comes after too.
        newest = sorted([int(code.rstrip("af")) for code in binaries])[-1]
        options.append("-gencode=arch=compute_%d,code=compute_%d" % (newest, newest))
    return options

def _cuda_library(ctx):
    own = cc_common.create_compilation_context(headers = depset(ctx.files.hdrs))
    context = cc_common.merge_cc_infos(
        cc_infos = [CcInfo(compilation_context = own)] + [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context

    arguments = ctx.actions.args()
    arguments.add_all([
        "-O3",
        "-std=c++20",
        "-lineinfo",
        "-ccbin=g++",
        "--expt-relaxed-constexpr",
        "-Werror=all-warnings",
        "-Xcompiler=-fPIC,-O2,-Wall,-Wextra,-Werror",
        "-DNDEBUG",
        # An eighth of the size.
        "--compress-mode=size",
    ])
    arguments.add_all(_gencode(ctx.label, ctx.attr._archs[BuildSetting].value))
    arguments.add_all(ctx.attr.copts)
    arguments.add_all(ctx.attr.local_defines, format_each = "-D%s")
    arguments.add_all(context.defines, format_each = "-D%s")
    arguments.add("-I.")
    arguments.add_all(context.quote_includes, format_each = "-I%s")
    arguments.add_all(context.includes, format_each = "-I%s")
    arguments.add_all(context.system_includes, format_each = "-isystem=%s")

    objects = []
    for src in ctx.files.srcs:
        if src.extension != "cu":
            continue
        out = ctx.actions.declare_file("_cuda/%s/%s.o" % (ctx.label.name, src.basename))
        ctx.actions.run(
            executable = CUDA_HOME + "/bin/nvcc",
            arguments = [arguments, "-c", src.path, "-o", out.path],
            inputs = depset(ctx.files.srcs, transitive = [context.headers]),
            outputs = [out],
            # The version is part of the action, as the toolkit itself is no input of it.
            env = {"PATH": CUDA_HOME + "/bin:/usr/local/bin:/usr/bin:/bin", "TIGON_CUDA_VERSION": CUDA_VERSION},
            mnemonic = "CudaCompile",
            progress_message = "Compiling %s with nvcc" % src.short_path,
        )
        objects.append(out)

    archive = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    ctx.actions.run_shell(
        command = 'rm -f "$1" && ar rcsD "$@"',
        arguments = [archive.path] + [o.path for o in objects],
        inputs = objects,
        outputs = [archive],
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin"},
        mnemonic = "CudaArchive",
    )
    toolchain = ctx.attr._cc_toolchain[cc_common.CcToolchainInfo]
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    library = cc_common.create_library_to_link(
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = toolchain,
        pic_static_library = archive,
        alwayslink = ctx.attr.alwayslink,
    )
    linker_input = cc_common.create_linker_input(owner = ctx.label, libraries = depset([library]))
    linking = cc_common.create_linking_context(linker_inputs = depset([linker_input]))
    info = CcInfo(compilation_context = context, linking_context = linking)
    return [
        DefaultInfo(files = depset([archive])),
        cc_common.merge_cc_infos(
            direct_cc_infos = [info],
            cc_infos = [dep[CcInfo] for dep in ctx.attr.deps + [ctx.attr._runtime]],
        ),
    ]

_cuda_library_rule = rule(
    implementation = _cuda_library,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu", ".cuh", ".h"]),
        "hdrs": attr.label_list(allow_files = [".cuh", ".h"]),
        "deps": attr.label_list(providers = [CcInfo]),
        "copts": attr.string_list(),
        "local_defines": attr.string_list(),
        "alwayslink": attr.bool(),
        "_archs": attr.label(default = "//kernels:cuda_archs"),
        "_runtime": attr.label(default = "@libtorch//:cudart"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    fragments = ["cpp"],
)

def cuda_library(**kwargs):
    """A library of .cu files, used as a cc_library is; LibTorch's CUDA runtime comes with it."""
    _cuda_library_rule(**kwargs)

def _cuda_archs_flag(ctx):
    return [BuildSetting(value = ctx.build_setting_value.split(","))]

# The value of --//kernels:cuda_archs: a list such as 80,90a,ptx.
cuda_archs_flag = rule(
    implementation = _cuda_archs_flag,
    build_setting = config.string(flag = True),
)
