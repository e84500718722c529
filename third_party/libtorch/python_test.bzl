"""tigon_python_test: a test that is one Python file, run by the Python that has LibTorch."""

load("@libtorch//:paths.bzl", "PYTHON", "SITE")

def tigon_python_test(name, src, data = [], args = [], **kwargs):
    """A test that passes when `src` exits with 0.

    It starts in the runfiles, with `import torch` and imports from the repository root working.

    Args:
      name: the target's name.
      src: the Python file.
      data: files that it opens.
      args: its arguments; $(rootpath //some:file) names an entry of data.
      **kwargs: as for any test.
    """
    native.sh_test(
        name = name,
        srcs = ["//third_party/libtorch:python_test.sh"],
        args = [PYTHON, SITE, "$(rootpath %s)" % src] + args,
        data = [src] + data,
        **kwargs
    )
