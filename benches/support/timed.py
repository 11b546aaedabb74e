#!/usr/bin/env python3
"""Runs a command and measures its wall time, its CPU time and its peak memory.

    timed.py COMMAND [ARGUMENT]...      prints seconds, CPU seconds and KiB; the command's own output is dropped

Linux keeps a process's peak memory when the process becomes another program, so a child of Python seems to have used
at least what Python uses, which is more than some commands need. Here the command is a child of `setsid`, which is small
and ends at once, and is adopted by this process to be waited for. The start of `setsid` is in the time: about 1 ms.
"""

import ctypes
import os
import sys
import time
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER = 36


class Run(NamedTuple):
    wall: float
    """Seconds."""
    cpu: float
    """Seconds of all threads, in the program and in the kernel."""
    peak: int
    """KiB in memory at most."""


def run(command, output=os.devnull):
    """Runs the command, its standard output in a file; ends this process if it fails with a status above the
    environment variable WORST (0). The caller has no other children."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt processes")
    to_output = [(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
    start = time.perf_counter()
    starter = os.posix_spawnp("setsid", ["setsid", "--fork", *command], os.environ, file_actions=to_output)
    os.waitpid(starter, 0)
    _, status, usage = os.wait4(-1, 0)
    wall = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if not 0 <= code <= int(os.environ.get("WORST", 0)):
        sys.exit(f"exit status {code}: {' '.join(command)}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(*run(sys.argv[1:]))
