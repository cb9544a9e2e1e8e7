"""A report as one HTML page that loads no other file or host; it adapts to light and dark, wide and narrow screens."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

__all__ = ["Cell", "cards", "data_block", "label_html", "notes", "page", "section", "table"]

_CLIPPED = 160

STYLE = """
:root{color-scheme:light dark;--ink:#1c2330;--soft:#5c6675;--paper:#fbfaf7;--card:#fff;--rule:#e2dfd8;--good:#1b7f4b;
--bad:#b3372c;--warn:#946200;--c0:#2b6cb0;--c1:#c05621;--c2:#2f855a;--c3:#97266d;--c4:#6b46c1;--c5:#b7791f;--c6:#00798c;
--c7:#718096}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8ec;--soft:#9aa5b4;--paper:#14171c;--card:#1c2027;--rule:#313743;
--good:#5fd08f;--bad:#ff8a7a;--warn:#e9b949;--c0:#6cb2f7;--c1:#f6a368;--c2:#6fd3a0;--c3:#f08ac4;--c4:#b39bf5;
--c5:#ecc25c;--c6:#4fc6d8;--c7:#a9b4c2}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
main{max-width:62rem;margin:0 auto;padding:2.2rem 1.1rem 4rem}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .35rem;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.6rem 0 .5rem}
h3{font-size:1rem;margin:1.4rem 0 .3rem}
p{margin:.3rem 0 .8rem;max-width:46rem;overflow-wrap:anywhere}
.soft,small{color:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(11.5rem,1fr));gap:.8rem;margin:1.4rem 0}
.card{background:var(--card);border:1px solid var(--rule);border-radius:.6rem;padding:.8rem 1rem}
.card b{display:block;font-size:1.65rem;font-weight:650;font-variant-numeric:tabular-nums;line-height:1.25}
.card span{font-weight:600}
.card small{display:block;line-height:1.35;margin-top:.25rem}
.wide{overflow-x:auto;background:var(--card);border:1px solid var(--rule);border-radius:.6rem;margin:.6rem 0}
.tall{max-height:36rem;overflow-y:auto}.tall thead th{position:sticky;top:0;background:var(--card)}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;padding:.42rem .8rem;border-top:1px solid var(--rule);vertical-align:top}
thead th{border-top:0;color:var(--soft);font-weight:600;white-space:nowrap}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.label{display:block;white-space:pre-wrap;overflow-wrap:anywhere;min-width:9.5rem;max-height:9rem;overflow:auto}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.notes{border-left:4px solid var(--warn);background:var(--card);border-radius:.3rem;padding:.5rem 1rem;margin:1rem 0}
.notes p{margin:.2rem 0;max-width:none}
.tag{display:inline-block;vertical-align:middle;
border:1px solid var(--rule);border-radius:1rem;padding:0 .55rem;margin:.1rem .25rem .1rem 0;
font-size:.88rem;max-width:100%;overflow-wrap:anywhere;white-space:pre-wrap;max-height:9rem;overflow:auto}
.tag.good{border-color:var(--good)}.tag.bad{border-color:var(--bad)}
article{background:var(--card);border:1px solid var(--rule);border-radius:.6rem;padding:.8rem 1rem;margin:.7rem 0}
article h3{margin:0 0 .2rem}article p{margin:.2rem 0 .5rem;max-width:none}
blockquote{margin:.3rem 0 .6rem;padding-left:.8rem;border-left:3px solid var(--rule);color:var(--soft);
white-space:pre-line;overflow-wrap:anywhere;max-height:11rem;overflow:auto;font-size:.93rem}
figure{margin:.8rem 0;background:var(--card);border:1px solid var(--rule);border-radius:.6rem;padding:.8rem}
svg{display:block;width:100%;height:auto;max-width:34rem;margin:0 auto}
svg text{fill:var(--soft);font:13px system-ui,sans-serif}svg .name{fill:var(--ink)}
.grid{stroke:var(--rule)}.axis{stroke:var(--soft)}
.line{fill:none;stroke:var(--c);stroke-width:2.2;stroke-linejoin:round}.dot,.bar{fill:var(--c)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;justify-content:center;padding:0;margin:.5rem 0 0;
font-size:.9rem}
.key{display:inline-block;width:1rem;height:.25rem;border-radius:.2rem;background:var(--c);vertical-align:middle;
margin-right:.4rem}
.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}
.c6{--c:var(--c6)}.c7{--c:var(--c7)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:0 .8rem}
footer{margin-top:3rem;color:var(--soft);font-size:.9rem;border-top:1px solid var(--rule);padding-top:.8rem}
button.sort{all:unset;cursor:pointer}button.sort:hover,button.sort:focus-visible{text-decoration:underline}
@media (max-width:34rem){main{padding:1.2rem .8rem 3rem}th,td{padding:.38rem .4rem}thead th,thead .n{white-space:normal}
table{font-size:.88rem}.label{min-width:6.5rem}h1{font-size:1.4rem}
svg text{font-size:16px}.cards{grid-template-columns:1fr 1fr}.card{padding:.6rem .7rem}}
@media print{.tall{max-height:none}article,figure,.card{break-inside:avoid}}
"""

SCRIPT = """
for(const t of document.querySelectorAll("table.sortable")){t.querySelectorAll("th").forEach((h,i)=>{
const b=document.createElement("button");b.className="sort";b.append(...h.childNodes);h.append(b);let up=true;
b.onclick=()=>{const v=r=>{const c=r.cells[i];const x=parseFloat(c.dataset.v);return isNaN(x)?c.textContent:x};
const rows=[...t.tBodies[0].rows].sort((p,q)=>{const a=v(p),c=v(q);
return (typeof a==typeof c?(a<c?-1:a>c?1:0):typeof a=="number"?-1:1)*(up?1:-1)});up=!up;t.tBodies[0].append(...rows)}})}
"""


def _source(text: str) -> str:
    """How a Content-Security-Policy names an inline script or style: by the hash of its text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_POLICY = (
    f"default-src 'none'; style-src {_source(STYLE)}; script-src {_source(SCRIPT)}; base-uri 'none'; form-action 'none'"
)
"""Even after a mistake in escaping, a label's name must not load or run anything: only these two texts are allowed."""


class Cell(NamedTuple):
    """A table cell: HTML, the number to sort by, and a CSS class."""

    html: str
    value: float | None = None
    style: str = ""


def page(title: str, body: Iterable[str], footer: str, data: Any) -> str:
    """The whole page; `data` is embedded as JSON, so that programs can read what people see."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{chr(10).join(body)}\n<footer>{footer}</footer>\n</main>\n"
        f"{data_block(data)}\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def data_block(data: Any) -> str:
    """JSON that an HTML parser can neither end early nor change: every `<`, `>` and `&` is escaped."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="arcrank-data">{text}</script>'


def section(title: str, *parts: str, intro: str = "") -> str:
    """A heading, a sentence and what follows."""
    return (
        f"<h2>{escape(title)}</h2>\n" + (f'<p class="soft">{escape(intro)}</p>\n' if intro else "") + "\n".join(parts)
    )


def notes(sentences: Iterable[str]) -> str:
    """Caveats in a visible box; empty where there are none."""
    lines = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f'<div class="notes" role="note">{lines}</div>' if lines else ""


def cards(entries: Iterable[tuple[str, str, str]]) -> str:
    """Large numbers, each with a name and a sentence."""
    return '<div class="cards">' + "".join(
        f'<div class="card"><b>{escape(value)}</b><span>{escape(name)}</span><small>{escape(why)}</small></div>'
        for name, value, why in entries
    ) + "</div>"  # fmt: skip


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell | str]], *, sortable: bool = False) -> str:
    """A table that scrolls sideways where it does not fit; cells with a value are aligned as numbers."""
    lines = [list(row) for row in rows]
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in lines)
    numbers = {j for row in lines for j, cell in enumerate(row) if isinstance(cell, Cell) and cell.value is not None}
    styles = [' class="n"' if j in numbers else "" for j in range(len(heads))]
    head = "".join(f"<th{style}>{escape(name)}</th>" for name, style in zip(heads, styles, strict=True))
    wide, style = ("wide tall", ' class="sortable"') if sortable else ("wide", "")
    return f'<div class="{wide}"><table{style}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return f"<td>{cell}</td>"
    names = " ".join(filter(None, ["n" if cell.value is not None else "", cell.style]))
    style = f' class="{names}"' if names else ""
    value = "" if cell.value is None else f' data-v="{cell.value}"'
    return f"<td{style}{value}>{cell.html}</td>"


def label_html(label: str, style: str = "label") -> str:
    """A label as escaped text; long ones are cut and show their length, and the data block has them whole."""
    shown = label if len(label) <= _CLIPPED else label[:_CLIPPED] + "…"
    note = "" if len(label) <= _CLIPPED else f" <small>({len(label):,} characters)</small>"
    return f'<span class="{style}">{_exact(shown)}{note}</span>'


def _exact(text: str) -> str:
    """Escape also what an HTML parser would change or a reader could not see."""
    return "".join(c if c in "\n\t" or c.isprintable() else _hidden(c) for c in escape(text))


def _hidden(character: str) -> str:
    return "&#13;" if character == "\r" else f"<small>{escape(repr(character)[1:-1])}</small>"
