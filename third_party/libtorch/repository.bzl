"""LibTorch from PyPI's wheels, installed once into a cache directory and linked in.

@libtorch                the headers and the link flags
@libtorch//:cudart       the CUDA runtime that LibTorch itself uses, without LibTorch
@libtorch//:paths.bzl    PYTHON, SITE, LIBRARY_DIRS: absolute, on this machine

The libraries are not Bazel inputs: they find one another by $ORIGIN, which solib symlinks would
break. -L and the rpath name the cache directory, which every workspace shares, so that another
clone's results come out of the disk cache. The directory's name carries the lock file's hash.
"""

# Under site-packages, in the order in which the loader should look.
_LIBRARY_DIRS = [
    "torch/lib",
    "nvidia/cu13/lib",
    "nvidia/cudnn/lib",
    "nvidia/nccl/lib",
    "nvidia/cusparselt/lib",
    "nvidia/nvshmem/lib",
]

# Copies of other libraries' headers in LibTorch's folder, which would hide the system's own.
_OTHERS_HEADERS = ["fmt", "google"]

_BUILD = """package(default_visibility = ["//visibility:public"])

cc_library(
    name = "libtorch",
    hdrs = glob(
        ["torch/**/*.h", "torch/**/*.hpp", "torch/**/*.cuh"],
        # Half of the files, for calls past the dispatcher; each costs time in the sandbox.
        exclude = [
            "torch/include/ATen/ops/*_composite*_dispatch.h",
            "torch/include/ATen/ops/*_cpu_dispatch.h",
            "torch/include/ATen/ops/*_cuda_dispatch.h",
            "torch/include/ATen/ops/*_meta_dispatch.h",
            "torch/include/ATen/ops/*_native.h",
        ],
    ),
    # LibTorch's own headers then include the operators that they use, not all of them.
    defines = ["AT_PER_OPERATOR_HEADERS"],
    includes = [
        "torch/include",
        "torch/include/torch/csrc/api/include",
    ],
    linkopts = [
        "-L%{site}/torch/lib",
        "-Wl,--no-as-needed",
        "-ltorch",
        "-ltorch_cpu",
        "-ltorch_cuda",
        "-lc10",
        "-lc10_cuda",
        "-Wl,--as-needed",
        "-Wl,--allow-shlib-undefined",
    ],
    deps = [":cudart"],
)

# rpath, not runpath: it must hold for the libraries that these libraries load.
cc_library(
    name = "cudart",
    hdrs = glob(["cuda/**/*.h", "cuda/**/*.hpp"]),
    includes = ["cuda"],
    linkopts = [
        "-L%{site}/nvidia/cu13/lib",
        "-l:libcudart.so.13",
        "-Wl,--disable-new-dtags",
        "-Wl,-rpath,%{site}/torch/lib",
        "-Wl,-rpath,%{site}/nvidia/cu13/lib",
    ],
)
"""

def _python(rctx):
    python = rctx.path("/usr/bin/python3")
    if not python.exists:
        python = rctx.which("python3")
    if not python:
        fail("LibTorch is installed by pip: no python3 was found")
    return str(python)

def install_wheels(rctx, name, lock_file):
    """Installs a lock file's wheels into the cache; returns the folder and the Python used."""
    python = _python(rctx)
    result = rctx.execute(
        [rctx.path(Label("//third_party/wheels:install.sh")), name, rctx.path(lock_file), python],
        timeout = 3600,
    )
    if result.return_code:
        fail("could not install the wheels of %s:\n%s" % (lock_file, result.stderr))
    return result.stdout.strip(), python

def _libtorch_repository(rctx):
    site, python = install_wheels(rctx, "libtorch", rctx.attr.lock_file)
    for entry in rctx.path(site + "/torch/include").readdir():
        if entry.basename not in _OTHERS_HEADERS:
            rctx.symlink(entry, "torch/include/" + entry.basename)
    rctx.symlink(site + "/nvidia/cu13/include", "cuda")
    rctx.file("BUILD.bazel", _BUILD.replace("%{site}", site))
    rctx.file("paths.bzl", "PYTHON = %r\nSITE = %r\nLIBRARY_DIRS = %r\n" % (
        python,
        site,
        [site + "/" + directory for directory in _LIBRARY_DIRS],
    ))

libtorch_repository = repository_rule(
    implementation = _libtorch_repository,
    attrs = {"lock_file": attr.label(default = "//third_party/libtorch:requirements.lock")},
    environ = ["HOME", "TIGON_CACHE", "XDG_CACHE_HOME"],
    local = True,
)
