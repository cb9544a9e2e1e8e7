"""Readers of users' own files. Each format is one module with a `blocks(lines, options)` generator of `Corpus`."""
