"""Cut a text into its runs of letters, digits and marks, by one pass of `str.translate` and one of `str.split`."""

from __future__ import annotations

import unicodedata

__all__ = ["split_lowered", "split_words"]


class _Separators(dict[int, int]):
    """For `str.translate`: keeps letters, digits and marks of any script, turns all else into a space."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        # Marks carry the vowels of Indic scripts and the accents that have no composed form.
        kept = char.isalnum() or unicodedata.category(char).startswith("M")
        value = self[code] = code if kept else ord(" ")
        return value


_ANY_SCRIPT = _Separators()
_ASCII = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_ASCII_LOWERED = _ASCII.lower()


def split_words(text: str) -> list[str]:
    """Cut a text into its runs of letters, digits and marks."""
    if text.isascii():
        return text.translate(_ASCII).split()
    return unicodedata.normalize("NFKC", text).translate(_ANY_SCRIPT).split()


def split_lowered(text: str) -> list[str]:
    """Cut a text into its runs of letters, digits and marks, in lower case."""
    if text.isascii():
        return text.translate(_ASCII_LOWERED).split()
    return unicodedata.normalize("NFKC", text).lower().translate(_ANY_SCRIPT).split()
