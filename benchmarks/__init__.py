"""Comparisons with other libraries: medians of alternating runs in one process, as ratios."""
