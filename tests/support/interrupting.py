"""Processes that Ctrl-C ends, also where the tests run in the background of a shell.

A shell without job control starts what runs in its background with SIGINT ignored, and that is inherited:
Python then installs no handler of its own, and KeyboardInterrupt is never raised.
"""

import sys

_RUN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


def interruptible(*command: str) -> list[str]:
    """The command (the path of a program, and arguments) as one that starts with the default of SIGINT.

    Its process id is that of the process that is started.
    """
    return [sys.executable, "-I", "-S", "-c", _RUN, *command]
