"""Files for which there is no space: the path, the bytes needed and the bytes free are told, and nothing is lost."""

from __future__ import annotations

import pytest

from tests.cli.conftest import call, failed


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "{data}", "--learner", "log-linear", "--model", "{target}"),
        ("evaluate", "{model}", "{data}", "--report", "{target}"),
        ("data", "convert", "{data}", "{target}", "--to", "csv"),
    ],
)
def test_no_space_for_a_file(full_disk, model, data, arguments):
    target = full_disk / "target"
    target.touch()
    result = call(*(part.format(model=model, data=data, target=target) for part in arguments))
    failed(result, f"arcrank: {target}: No space left on device; the file needs ", " bytes, and the disk has 0 free")
    assert "Errno" not in result.err
    assert sorted(path.name for path in full_disk.iterdir()) == ["filler", "target"]
    assert target.read_bytes() == b""
