"""Files that are written in one step or compressed, and names as arrays."""
