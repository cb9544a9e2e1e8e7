"""The oldest versions that pyproject.toml declares are the ones that `make test-oldest` installs."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUNNERS = ("pytest", "pytest-xdist", "hypothesis")  # of the development tools, those that run tests


def bounds(requirements):
    """The version of the one `>=` of each requirement."""
    found = {}
    for requirement in map(Requirement, requirements):
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        found[canonicalize_name(requirement.name)] = Version(bound.version)
    return found


def declared():
    extras = PROJECT["optional-dependencies"]
    runners = [one for one in extras["dev"] if Requirement(one).name in RUNNERS]
    assert len(runners) == len(RUNNERS)
    named = [bound for name in ("report", "parquet", "serve", "trees", "embeddings", "dask") for bound in extras[name]]
    return bounds([*PROJECT["dependencies"], *named, *runners])


def pinned():
    lines = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): Version(version) for name, version in pins}


def test_every_bound_is_pinned():
    assert pinned() == declared()


def test_the_page_names_every_bound():
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S+) \| ([\d.]+) \|", page, re.MULTILINE)
    python = Version(PROJECT["requires-python"].removeprefix(">="))
    assert {canonicalize_name(name): Version(version) for name, version in rows} == declared() | {"python": python}
