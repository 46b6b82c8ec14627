"""The commands of the `aedjax` program, one a file."""
