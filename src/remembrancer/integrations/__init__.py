"""What other frameworks expect of a memory, over a memory of this library. Each module needs the extra of its name."""
