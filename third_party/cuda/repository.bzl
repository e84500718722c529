"""The CUDA toolkit: CUDA_HOME's, nvcc's on PATH, /usr/local/cuda's, or the wheels from PyPI.

@cuda//:headers          the toolkit's C and C++ headers (cuda_runtime.h, cupti.h, nvtx3/...)
@cuda//:toolkit.bzl      CUDA_HOME, CUDA_VERSION, GPU_ARCHITECTURES of the toolkit that was taken

LibTorch 2.11.0 is built with CUDA 13, and its CUDA runtime is the one that is linked: a toolkit of
another major version is passed over.
"""

load("//third_party/libtorch:repository.bzl", "install_wheels")

_MAJOR = "13"

_BUILD = """package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["include/*.h", "include/*.hpp", "include/crt/*", "include/nvtx3/**"]),
    includes = ["include"],
)
"""

def _version(rctx, home):
    """The version of home's nvcc (13.0.88), or None when there is none that runs."""
    nvcc = rctx.path(home + "/bin/nvcc")
    if not nvcc.exists or not rctx.path(home + "/include/cuda_runtime.h").exists:
        return None
    result = rctx.execute([nvcc, "--version"])
    if result.return_code or ", V" not in result.stdout:
        return None
    return result.stdout.split(", V")[1].split("\n")[0].strip()

def _candidates(rctx):
    home = rctx.os.environ.get("CUDA_HOME")
    if home:
        yield_list = [("CUDA_HOME", home)]
    else:
        yield_list = []
    nvcc = rctx.which("nvcc")
    if nvcc:
        # Resolved by the shell: on PATH it may be a link into the toolkit.
        real = rctx.execute(["readlink", "-f", nvcc]).stdout.strip()
        yield_list.append(("nvcc on PATH", real.rpartition("/bin/")[0]))
    return yield_list + [("the usual place", "/usr/local/cuda")]

def _cuda_repository(rctx):
    tried = []
    home = None
    for origin, candidate in _candidates(rctx):
        version = _version(rctx, candidate)
        if version and version.split(".")[0] == _MAJOR:
            home = candidate
            break
        tried.append("%s (%s): %s" % (candidate, origin, "CUDA " + version if version else "no nvcc with headers"))
    if not home:
        site, _ = install_wheels(rctx, "cuda", rctx.attr.lock_file)
        home = site + "/nvidia/cu" + _MAJOR
        version = _version(rctx, home)
        if not version:
            fail("no CUDA %s toolkit: the wheels' nvcc (%s/bin/nvcc) does not run. Tried before:\n  %s" %
                 (_MAJOR, home, "\n  ".join(tried)))
    result = rctx.execute([home + "/bin/nvcc", "--list-gpu-code"])
    if result.return_code:
        fail("%s/bin/nvcc --list-gpu-code: %s" % (home, result.stderr))
    architectures = [
        code[len("sm_"):]
        for code in result.stdout.split("\n")
        if code.startswith("sm_")
    ]
    rctx.symlink(home + "/include", "include")
    rctx.file("BUILD.bazel", _BUILD)
    rctx.file("toolkit.bzl", "CUDA_HOME = %r\nCUDA_VERSION = %r\nGPU_ARCHITECTURES = %r\n" % (
        home,
        version,
        architectures,
    ))

cuda_repository = repository_rule(
    implementation = _cuda_repository,
    attrs = {"lock_file": attr.label(default = "//third_party/cuda:requirements.lock")},
    environ = ["CUDA_HOME", "HOME", "PATH", "TIGON_CACHE", "XDG_CACHE_HOME"],
    local = True,
)
