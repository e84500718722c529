#!/usr/bin/env python3
"""Writes requirements.lock (pip --require-hashes format) from requirements.in.

    third_party/wheels/update_lock.py third_party/libtorch third_party/cuda

Each requirements.in holds pinned NAME==VERSION lines. The hashes are the index's own, of the wheels
for x86-64 Linux that CPython 3.10 to 3.13 can use; nothing is downloaded but the index's pages.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

PYTHON_TAGS = ("cp310", "cp311", "cp312", "cp313")


def index_url():
    if os.environ.get("PIP_INDEX_URL"):
        return os.environ["PIP_INDEX_URL"]
    config = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"],
                            capture_output=True, text=True, check=False)
    return config.stdout.strip() or "https://pypi.org/simple"


def wheels(name, version):
    """Yields (file name, sha256) of the release's wheels that the lock is for."""
    request = urllib.request.Request(
        f"{index_url().rstrip('/')}/{name}/",
        headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(request) as response:
        files = json.load(response)["files"]
    for file in files:
        if not file["filename"].endswith(".whl"):
            continue
        parts = file["filename"][:-len(".whl")].split("-")
        python, abi, platform = parts[-3:]
        if parts[1] != version or "sha256" not in file["hashes"]:
            continue
        any_python = python.split(".")[-1] == "py3" and abi == "none"
        own_python = python in PYTHON_TAGS and abi == python
        if (any_python or own_python) and (platform == "any" or
                                           re.search(r"manylinux.*x86_64$", platform)):
            yield file["filename"], file["hashes"]["sha256"]


def lock(folder):
    out = ["# Written by third_party/wheels/update_lock.py from requirements.in; not edited by hand."]
    for line in (folder / "requirements.in").read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, version = line.split("==")
        hashes = [sha for _, sha in sorted(wheels(name, version))]
        if not hashes:
            sys.exit(f"{folder}/requirements.in: the index has no wheel for {line}")
        out.append(" \\\n".join([line] + [f"    --hash=sha256:{sha}" for sha in hashes]))
    (folder / "requirements.lock").write_text("\n".join(out) + "\n")


for argument in sys.argv[1:] or sys.exit(__doc__):
    lock(pathlib.Path(argument))
