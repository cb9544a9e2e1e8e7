"""Every public name has a docstring with an example, and a place in docs/api."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

API = Path(__file__).parents[2] / "docs" / "api"
PUBLIC = (
    "arcrank",
    "arcrank.graphs",
    "arcrank.decompositions",
    "arcrank.losses",
    "arcrank.losses.margin",
    "arcrank.metrics",
    "arcrank.metrics.top_k",
    "arcrank.model_selection",
    "arcrank.text",
    "arcrank.tables",
    "arcrank.datasets",
    "arcrank.evaluation",
    "arcrank.datacheck",
    "arcrank.modelfile",
    "arcrank.distributed",
    "arcrank.rankers.kernels",
    "arcrank.rankers.preference_machine.codes",
    "arcrank.errors",
)
"""The public modules; what is public in them tells `__all__`, or without it what they define."""
HEADING = re.compile(r"^Examples\n-+\n(?:.*\n)*?.*>>> ", flags=re.MULTILINE)


def public_names(module: ModuleType) -> list[str]:
    """The public classes and functions of a module."""
    names = getattr(module, "__all__", None) or [
        name for name, thing in vars(module).items() if getattr(thing, "__module__", None) == module.__name__
    ]
    found = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return [name for name, thing in found.items() if inspect.isclass(thing) or inspect.isfunction(thing)]


def listed(pages: Iterable[str]) -> list[str]:
    """The dotted names that pages show with `::: name`."""
    return [name for page in pages for name in re.findall(r"^::: (\S+)$", page, flags=re.MULTILINE)]


def resolved(dotted: str) -> Any:
    """The object of a dotted name; where a module and a function share it, the function."""
    home, _, name = dotted.rpartition(".")
    found = getattr(importlib.import_module(home), name, None)
    return importlib.import_module(dotted) if found is None else found


def complaints(module: ModuleType, shown: Iterable[Any]) -> Iterator[str]:
    """What is missing for the names of a module; `shown` are the objects that the pages show."""
    places = {id(thing) for thing in shown}
    for name in public_names(module):
        thing, dotted = getattr(module, name), f"{module.__name__}.{name}"
        told = thing.__doc__ or ""  # not an inherited one
        if not told.strip():
            yield f"{dotted} has no docstring"
        elif not HEADING.search(inspect.cleandoc(told)):
            yield f"{dotted} shows no example: add a section Examples with >>> to its docstring"
        if id(thing) not in places:
            yield f"{dotted} is on no page of docs/api: add `::: {dotted}` to one"
        if inspect.isclass(thing):
            yield from (f"{dotted}.{method} has no docstring" for method in silent_methods(thing))


def silent_methods(kind: type) -> Iterator[str]:
    """The public methods and properties of ours that say nothing, nor do those that they override."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        code = getattr(found, "fget", None) or getattr(found, "__func__", found)
        ours = inspect.isfunction(code) and code.__module__.startswith("arcrank")
        if ours and not name.startswith("_") and not inspect.getdoc(getattr(kind, name)):
            yield name


@pytest.fixture(scope="module")
def shown() -> list[Any]:
    return [resolved(name) for name in listed(path.read_text(encoding="utf-8") for path in API.glob("*.md"))]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name, shown):
    assert not list(complaints(importlib.import_module(name), shown))


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_examples_import_what_they_use(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    for one in public_names(module):
        faults = strayed(getattr(module, one), one)
        assert not faults, f"the example of {name}.{one} does not run in a fresh session:\n{faults}"


def strayed(thing: Any, name: str) -> str:
    """What goes wrong when a reader who has imported this one name types its example."""
    example = doctest.DocTestParser().get_doctest(thing.__doc__ or "", {name: thing}, name, None, 0)
    told: list[str] = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    doctest.DocTestRunner(optionflags=flags).run(example, out=told.append)
    return "".join(told)


def test_every_module_with_public_names_is_looked_at():
    assert all(public_names(importlib.import_module(name)) for name in PUBLIC)


def test_no_name_is_shown_twice():
    names = listed(path.read_text(encoding="utf-8") for path in API.glob("*.md"))
    assert len(names) == len(set(names))


def brew() -> None:
    """Make tea.

    Examples
    --------
    >>> brew()
    """


def pour() -> None:
    """Pour tea: >>> pour()."""


class Cup:
    """A cup.

    Examples
    --------
    >>> Cup().empty()
    """

    def empty(self) -> None: ...


Cup.empty.__module__ = "arcrank.kitchen"


def kitchen(**things: Any) -> ModuleType:
    module = ModuleType("kitchen")
    vars(module).update(things, __all__=[*things])
    return module


def test_the_checker_is_content():
    assert not list(complaints(kitchen(brew=brew), [brew]))
    assert not list(complaints(kitchen(brew=brew, __version__="1", SIZES=(1, 2)), [brew]))


def test_the_checker_complains():
    def stir() -> None: ...

    assert list(complaints(kitchen(brew=brew), [])) == [
        "kitchen.brew is on no page of docs/api: add `::: kitchen.brew` to one"
    ]
    assert list(complaints(kitchen(pour=pour), [pour])) == [
        "kitchen.pour shows no example: add a section Examples with >>> to its docstring"
    ]
    assert list(complaints(kitchen(stir=stir), [stir])) == ["kitchen.stir has no docstring"]
    assert list(complaints(kitchen(Cup=Cup), [Cup])) == ["kitchen.Cup.empty has no docstring"]


def test_the_checker_runs_examples_in_a_fresh_session():
    def stir() -> None:
        """Stir.

        >>> spoon
        """

    assert not strayed(brew, "brew")
    assert "name 'spoon' is not defined" in strayed(stir, "stir")


def test_the_checker_sees_names_of_modules_without_all():
    module = ModuleType(brew.__module__)
    vars(module).update(brew=brew, path=Path, _hidden=pour)
    assert public_names(module) == ["brew"]
