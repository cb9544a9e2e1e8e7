"""Writing files in one step, and names as arrays."""
