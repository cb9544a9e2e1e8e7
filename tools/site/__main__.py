"""Write what can be written in seconds: `make pages`.

What takes longer has separate commands, named on its pages: `tools.site.learners`, `tools.site.curves`,
`tools.site.screens`, and `arcrank reproduce --report FILE.md`.
"""

from __future__ import annotations

from tools.site import drawings, reference

if __name__ == "__main__":
    for path in [*reference.write(), *drawings.write()]:
        print(f"wrote {path}")
