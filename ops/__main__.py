"""`python -m ops`."""

from ops.cli import main

if __name__ == "__main__":
    main()
