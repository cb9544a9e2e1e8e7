"""Atomic writing, compressed files, and names as arrays."""
