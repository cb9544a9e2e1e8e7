"""Print the shape of the source: sizes of files and functions, imports, comments, docstrings, cycles.

`python -m tools.shape` measures src/arcrank; a path measures another package.
"""

from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = {"numpy", "scipy", "sklearn", "numba", "matplotlib", "pyarrow", "rich", "typer", "Stemmer", "safetensors"}
Tree = dict[str, ast.Module]


def parsed(package: Path) -> Tree:
    """The syntax tree of every module, by its dotted name."""
    trees = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        trees[name] = ast.parse(path.read_text(encoding="utf-8"))
    return trees


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body, without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None and len(function.body) > 1 else function.body
    return (function.end_lineno or body[0].lineno) - body[0].lineno + 1


def imports(tree: ast.AST, *, late: bool) -> Iterator[str]:
    """Names of imported modules: inside functions, or at the top (type-checking imports are neither)."""
    inner = {id(node) for function in functions(tree) for node in ast.walk(function)}
    typing = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and (id(node) in inner) == late and id(node) not in typing:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            else:
                yield node.module or ""


def late_statements(tree: ast.AST) -> int:
    nodes = {id(node): node for function in functions(tree) for node in ast.walk(function)}
    return sum(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes.values())


def edges(trees: Tree) -> dict[str, set[str]]:
    """Which module imports which at the top; a name imported from a package may be a module of it."""
    found: dict[str, set[str]] = {}
    for name, tree in trees.items():
        wanted = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in trees:
                wanted |= {f"{node.module}.{alias.name}" for alias in node.names} & trees.keys() or {node.module}
        top = set(imports(tree, late=False))
        found[name] = {module for module in wanted if module in top or module.rpartition(".")[0] in top} - {name}
    return found


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            place = stack.index(name)
            component = stack[place:]
            del stack[place:]
            if len(component) > 1:
                found.append(sorted(component))

    for name in graph:
        if name not in index:
            visit(name)
    return found


def heavy_packages(trees: Tree, graph: dict[str, set[str]]) -> set[str]:
    """Modules whose import also imports a heavy library."""
    heavy = {
        name
        for name, tree in trees.items()
        if any(module.partition(".")[0] in HEAVY for module in imports(tree, late=False))
    }
    while True:
        more = {name for name, wanted in graph.items() if wanted & heavy}
        more |= {name for name in trees if name.rpartition(".")[0] in heavy}  # a package is imported first
        if more <= heavy:
            return heavy
        heavy |= more


def light_late_imports(trees: Tree) -> list[str]:
    """Imports inside functions that neither are of a heavy library nor of a module that imports one."""
    heavy = heavy_packages(trees, edges(trees))
    found = []
    for name, tree in trees.items():
        inner = {id(node): node for function in functions(tree) for node in ast.walk(function)}
        for node in inner.values():
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = imported(node)
                if not any(one.partition(".")[0] in HEAVY or one in heavy for one in modules):
                    found.append(f"{name}: {modules[0]}")
    return found


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that a statement may import; a name imported from a package may be a module of it."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]


def comments(path: Path) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def public_with_docstrings(trees: Tree) -> tuple[int, int]:
    public = [
        node
        for tree in trees.values()
        for parent in [tree, *(one for one in tree.body if isinstance(one, ast.ClassDef))]
        for node in parent.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    return sum(ast.get_docstring(node) is not None for node in public), len(public)


def lines_of(paths: list[Path]) -> list[int]:
    return [len(path.read_text(encoding="utf-8").splitlines()) for path in paths]


def quantiles(values: list[int]) -> str:
    ordered = sorted(values)
    return f"median {statistics.median(ordered):g}, p90 {ordered[int(0.9 * (len(ordered) - 1))]}, max {ordered[-1]}"


def main(package: Path) -> None:
    paths = sorted(package.rglob("*.py"))
    trees, lines = parsed(package), lines_of(paths)
    lengths = [length(function) for tree in trees.values() for function in functions(tree)]
    cli, compiled = (
        [path for path in paths if name in path.relative_to(package).parts] for name in ("cli", "compiled")
    )
    documented, public = public_with_docstrings(trees)
    late = sum(map(late_statements, trees.values()))
    light = light_late_imports(trees)
    rings = cycles(edges(trees))
    print(f"source: {sum(lines):,} lines in {len(paths)} files; lines per file: {quantiles(lines)}")
    print(f"functions: {len(lengths):,}; lines per function: {quantiles(lengths)}")
    print(f"share of cli/: {100 * sum(lines_of(cli)) / sum(lines):.1f} %")
    print(f"import statements inside functions: {late}, of which neither heavy nor of a heavy package: {len(light)}")
    for one in light:
        print(f"  {one}")
    if compiled:
        rate = 100 * sum(map(comments, compiled)) / sum(lines_of(compiled))
        print(f"comments per 100 lines: {100 * sum(map(comments, paths)) / sum(lines):.1f}, in compiled/ {rate:.1f}")
    print(f"public names with docstrings: {documented} of {public} ({100 * documented / public:.0f} %)")
    print(f"cycles of imports: {len(rings)}" + "".join(f"\n  {' '.join(ring)}" for ring in rings))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src" / "arcrank")
