"""`python -m remembrancer.cli` is `remembrancer`."""

from remembrancer.cli import main

main()
