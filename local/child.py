"""A function's process: functions-framework, in a process that does not outlive the runner (Linux).

python -m local.child --source answer_fn/main.py --target main --port 8081
"""

import ctypes
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    runpy.run_module("functions_framework", run_name="__main__")
