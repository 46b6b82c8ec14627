"""`python -m aedjax` is the `aedjax` program."""

from aedjax.cli import main

main()
