"""Libraries of the system's packages, each as a repository with one target of its own name."""

_PREFIXES = ["/usr/include", "/usr/local/include"]

def _system_library(rctx):
    for prefix in _PREFIXES:
        if rctx.path(prefix + "/" + rctx.attr.header).exists:
            break
        prefix = None
    if not prefix:
        fail("%s is missing: no %s under %s. On Debian and Ubuntu: apt-get install %s (./bazelw does it)" %
             (rctx.name, rctx.attr.header, " or ".join(_PREFIXES), rctx.attr.package))

    # Below /usr/include the compiler finds a header by itself; a subfolder has to be named.
    includes = []
    headers = ""
    if rctx.attr.include:
        rctx.symlink(prefix + "/" + rctx.attr.include, "include")
        includes = ["include"]
        headers = 'glob(["include/**"], exclude = ["include/**/*.txt"])'
    build = ['package(default_visibility = ["//visibility:public"])']
    for name, linkopts in [(rctx.attr.target, rctx.attr.linkopts)] + [
        (name, [opt] + rctx.attr.linkopts)
        for name, opt in rctx.attr.more.items()
    ]:
        build.append("cc_library(name = %r, hdrs = %s, includes = %r, linkopts = %r)" %
                     (name, headers or "[]", includes, linkopts))
    rctx.file("BUILD.bazel", "\n".join(build) + "\n")

_system_library_repository = repository_rule(
    implementation = _system_library,
    attrs = {
        "target": attr.string(doc = "name of the target: the repository's own"),
        "header": attr.string(doc = "a file that must be there, below the include folder"),
        "package": attr.string(doc = "the Debian package that brings it"),
        "include": attr.string(doc = "a subfolder that goes on the include path"),
        "linkopts": attr.string_list(),
        "more": attr.string_dict(doc = "further targets: name to link option put before the rest"),
    },
    local = True,
)

def system_library(name, **kwargs):
    _system_library_repository(name = name, target = name, **kwargs)
