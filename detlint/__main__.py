"""`python -m detlint`."""

from detlint.cli import main

if __name__ == "__main__":
    main()
