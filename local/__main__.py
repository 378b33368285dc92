"""threadwise on one machine: `python -m local` serves the chat page, `python -m local ask` asks."""

from local.runner.venv import enter

if __name__ == "__main__":
    enter()
    from local.runner.cli import app

    app(prog_name="python -m local")
