"""tigon_bundle: the suites as a .tar.gz for a machine that has LibTorch in its Python."""

load("@libtorch//:paths.bzl", "LIBRARY_DIRS")

def _tigon_bundle(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".tar.gz")
    ctx.actions.run(
        executable = ctx.executable._pack,
        arguments = [
            output.path,
            ctx.file._launcher.path,
            ctx.file._license.path,
            ctx.info_file.path,
            ctx.file.binary.path,
        ] + [library.path for library in ctx.files.libraries],
        inputs = [
            ctx.file._launcher,
            ctx.file._license,
            ctx.info_file,
            ctx.file.binary,
        ] + ctx.files.libraries,
        outputs = [output],
        # For ldd, which follows the binary's own dependencies.
        env = {"LD_LIBRARY_PATH": ":".join(LIBRARY_DIRS)},
        mnemonic = "TigonBundle",
        progress_message = "Packing %s" % output.short_path,
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles(files = [output]))]

tigon_bundle = rule(
    implementation = _tigon_bundle,
    doc = "tigon/tigon (launcher), tigon/bin (binary and libraries), tigon/lib (their libraries).",
    attrs = {
        "binary": attr.label(allow_single_file = True, mandatory = True),
        "libraries": attr.label_list(allow_files = True),
        "_launcher": attr.label(default = "//suites/bundle:launcher.sh", allow_single_file = True),
        "_license": attr.label(default = "//:LICENSE", allow_single_file = True),
        "_pack": attr.label(default = "//suites/bundle:pack", executable = True, cfg = "host"),
    },
)
