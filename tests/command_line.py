"""Runs a suite's binary as a user does, and reads what it leaves behind."""

import csv
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

# Faster by far than the whole test may take, and slower than a worker's start on a busy machine.
PATIENCE_S = 240


class Suite:
    """A binary, called from an empty folder of its own."""

    def __init__(self, binary):
        self.binary = str(pathlib.Path(binary).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def start(self, *arguments, **options):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BUILD_")}
        return subprocess.Popen([self.binary, *map(str, arguments)], cwd=self.folder, text=True,
                                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                **options)

    def finish(self, process):
        """(exit code, stdout, stderr)"""
        try:
            out, err = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return process.returncode, out, err

    def __call__(self, *arguments, **options):
        return self.finish(self.start(*arguments, **options))

    def rows(self, out, file="speed.csv"):
        with open(self.folder / out / file, newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def environment(self, out):
        return json.loads((self.folder / out / "environment.json").read_text(encoding="utf-8"))

    def wait_for_rows(self, out, operator, count):
        """Until the run has written so many rows of the operator."""
        return wait_until(lambda: (self.folder / out / "speed.csv").exists()
                          and sum(r["op"] == operator for r in self.rows(out)) >= count)


def wait_until(condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def workers_of(process):
    """Ids of the processes that this one started as workers."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process.pid and b"--worker" in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            pass  # it ended meanwhile
    return found


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def kill(pid):
    os.kill(pid, signal.SIGKILL)
