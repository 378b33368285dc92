"""`python -m local`: serves the chat page, with the small cloud and the functions, until Ctrl-C."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from shlex import quote

from rich.console import Console

from local.places import Places
from local.runner.environment import environment_of_operators, own_key
from local.runner.stack import running

ROOT = Path(__file__).resolve().parents[2]
MODELS = {
    "model_local": "A small rule-based model answers with quotes from the knowledge base.",
    "model_gemini": "Gemini answers (GEMINI_API_KEY is set). Everything else runs on this machine.",
}


async def serve(port: int, state: Path) -> None:
    """Serve the chat page on `port` until SIGINT or SIGTERM. Raises PortTaken or FunctionFailed."""
    console = Console()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    places = Places(state=state, logs=state / "logs", http=port)
    key = own_key(os.environ)
    async with running(places, gemini_key=key) as (cloud, _):
        console.print(f"[bold]threadwise[/bold] is ready: [bold blue underline]{places.url}[/]")
        console.print(MODELS[cloud.page.model_note], style="dim", soft_wrap=True)
        console.print(f"Conversations and logs are in {state}. Press Ctrl-C to stop.", style="dim")
        operators = state / "ops.env"
        operators.write_text(environment_of_operators(places))
        there, python = f"cd {quote(str(ROOT))} && . {quote(str(operators))}", quote(sys.executable)
        use = f"{there} && {python} -m ops dead groups"
        console.print(f"For operators, in another terminal: {use}", style="dim", soft_wrap=True)
        try:
            await stop.wait()
        finally:
            operators.unlink(missing_ok=True)
        console.print("\nStopping…", style="dim")
