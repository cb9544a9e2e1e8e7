"""Run every benchmark, or those named: `python -m benchmarks [errors datasets ...]`.

Each runs in a separate process, so that none inherits another's memory, threads or compiled code.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NOT_TIMINGS = {"__init__", "__main__", "timing", "text_defaults", "default_c", "server_client", "many_labels_peer"}


def main() -> int:
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_TIMINGS)
    names = sys.argv[1:] or known
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are {', '.join(known)}.", file=sys.stderr)
        return 2
    failed = 0
    for name in names:
        print(f"== {name}", flush=True)
        failed |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
