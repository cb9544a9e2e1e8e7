"""Lines are the same however their bytes arrive."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets.formats.lines import Lines
from arcrank.errors import FormatError


class Drops(io.BytesIO):
    """A stream that gives a few bytes at a time."""

    def __init__(self, raw, step):
        super().__init__(raw)
        self.step = step

    def read1(self, size=-1):
        return super().read1(min(size, self.step))


RAW = st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"bc", b"\xc3\xa9", b"long line"])).map(b"".join)


@given(RAW, st.integers(1, 40), st.booleans())
def test_lines_are_cut_where_they_end(raw, step, mark):
    given = (b"\xef\xbb\xbf" if mark else b"") + raw
    expected = [line.removesuffix(b"\n").removesuffix(b"\r") for line in io.BytesIO(raw)]
    found = list(Lines(Drops(given, step), "x"))
    if mark and not raw:  # a mark alone is a blank line
        expected = [b""]
    assert found == list(enumerate(expected, start=1))


@given(RAW, st.integers(1, 40), st.integers(1, 8))
def test_long_lines_are_left_out_and_take_no_other_along(raw, step, limit):
    everything = [line.removesuffix(b"\n").removesuffix(b"\r") for line in io.BytesIO(raw)]
    lines = Lines(Drops(raw, step), "x", on_error="skip", max_bytes=limit)
    assert list(lines) == [(i, line) for i, line in enumerate(everything, start=1) if len(line) <= limit]
    assert lines.skipped["line too long"] == sum(len(line) > limit for line in everything)


def test_a_long_line_is_named_by_its_number():
    lines = Lines(io.BytesIO(b"a\nbcdefghijkl\nm"), "x", max_bytes=3)
    assert next(lines) == (1, b"a")
    with pytest.raises(FormatError, match="^x:2: line too long"):
        next(lines)


def test_drained_is_when_all_that_has_arrived_is_given():
    lines = Lines(Drops(b"a\nb\nc\nd", 4), "x")
    assert not lines.drained  # nothing was asked for yet
    assert [(line, lines.drained) for _, line in lines] == [(b"a", False), (b"b", True), (b"c", True), (b"d", True)]
