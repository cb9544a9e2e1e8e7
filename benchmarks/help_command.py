"""Time what a user waits for before anything happens: `arcrank --help` in CPU seconds, and what it imports.

python -m benchmarks.help_command
"""

from __future__ import annotations

import resource
import subprocess
import sys
from statistics import median

from benchmarks.timing import report

ROUNDS = 7
PROMISED_SECONDS = 0.4


def cpu_seconds(arguments: list[str]) -> float:
    """User and system time of one run of the command, its interpreter included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "arcrank", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    for arguments in (["--help"], ["rank", "--help"]):
        seconds = median(cpu_seconds(arguments) for _ in range(ROUNDS))
        report(f"arcrank {' '.join(arguments)}: CPU seconds", seconds, PROMISED_SECONDS)


if __name__ == "__main__":
    main()
