"""Faults on a random schedule. The same seed gives the same faults, in the same order, of the same length."""

import asyncio
import random
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from local.runner.cloud import Cloud
from local.runner.functions import Functions
from local.stand_ins.faults import SERVICES, Faults, fault_names
from shared.pipeline import pipeline

KILL, RESTART = "killed", "pubsub-restarted"
#: Shortest and longest time from the start of one fault to the start of the next, in seconds.
GAP = (0.8, 3.0)


@dataclass(frozen=True)
class Blow:
    """One fault: after a pause of `gap` seconds it is on for `lasts`, hits a `share` of the calls (0 to 1),
    and holds each, where it holds any, for `seconds`."""

    name: str
    gap: float
    lasts: float = 0.0
    share: float = 1.0
    seconds: float = 0.0


#: For each fault: how long it lasts, what share it hits, how long it holds a call; each from … to.
_RANGES: dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]] = {
    "down": ((2, 6), (0.4, 1.0), (0, 0)),
    "throttled": ((2, 6), (0.3, 0.8), (0, 0)),
    "slow": ((2, 6), (0.2, 0.8), (0.5, 4)),
    "hang": ((1, 3), (0.02, 0.15), (0, 0)),
    "duplicate": ((4, 10), (0.2, 0.8), (0.2, 6)),
    "late": ((3, 8), (0.2, 0.6), (0.5, 6)),
    "blocked": ((2, 5), (0.2, 0.6), (0, 0)),
    "cut-off": ((2, 5), (0.3, 0.8), (0, 0)),
    "invalid": ((2, 5), (0.3, 0.8), (0, 0)),
    "empty": ((2, 5), (0.3, 0.8), (0, 0)),
    "long": ((2, 6), (0.3, 0.8), (0, 0)),
    "refused": ((1, 3), (0.1, 0.4), (0, 0)),
    "refused-cards": ((2, 6), (0.3, 1.0), (0, 0)),
    "frozen": ((4, 8), (0.3, 0.8), (2, 12)),
    "skewed": ((6, 15), (1, 1), (-30, 30)),
}
#: A Chat write that is applied late comes sooner than whatever else may be held back.
_BY_NAME = {"chat-late": ((2, 5), (0.1, 0.4), (0.3, 4))}
#: How long a function dies again whenever it has started: long enough to use up all delivery attempts of what
#: it should take (1 + 2 + 4 + 8 s of backoff).
CRASH_LOOP_SECONDS = (17.0, 20.0)
CRASH_EVERY = 3.0


#: The services that can have faults if Pub/Sub and Firestore are Google's emulators. The emulators have no
#: faults to switch on, and lose all messages in a restart.
BESIDE_EMULATORS = tuple(service for service in SERVICES if service not in ("pubsub", "firestore"))


def blow_names() -> tuple[str, ...]:
    """The names of all blows."""
    return (*fault_names(), RESTART)


def schedule(
    seed: int, services: Collection[str] = SERVICES, without: Collection[str] = ()
) -> Iterator[Blow]:
    """Faults without end, in rounds that each hold every kind, in a drawn order; only of these services
    and of the functions, and `without` those of these names."""
    struck = (*services, *(step.name for step in pipeline().functions))
    return (
        blow for blow in _rounds(seed) if blow.name.partition("-")[0] in struck and blow.name not in without
    )


def _rounds(seed: int) -> Iterator[Blow]:
    rng = random.Random(seed)
    # Not the first function: Chat would give up, and the run would test nothing.
    crash_loops = tuple(step.name for step in pipeline().functions[1:])
    while True:
        kinds = [*blow_names(), RESTART]
        blows = [_blow(kind, rng) for kind in kinds]
        crashing, lasts = rng.choice(crash_loops), rng.uniform(*CRASH_LOOP_SECONDS)
        blows.append(Blow(f"{crashing}-{KILL}", rng.uniform(*GAP), lasts, seconds=CRASH_EVERY))
        rng.shuffle(blows)
        yield from blows


def _blow(name: str, rng: random.Random) -> Blow:
    gap = rng.uniform(*GAP)
    ranges = _BY_NAME.get(name) or _RANGES.get(name.partition("-")[2])
    if ranges is None:
        return Blow(name, gap)
    lasts, share, seconds = (round(rng.uniform(*between), 2) for between in ranges)
    if (
        name == "ingest-skewed"
    ):  # with a slow clock it would accept no token from Chat, and there would be no questions
        seconds = abs(seconds)
    return Blow(name, gap, lasts, share, seconds)


class Storm:
    """Switches these faults on and off until it is stopped.

    `hits` counts the calls, deliveries and processes that were hit, by the name of the fault.
    """

    def __init__(self, cloud: Cloud, functions: Functions, faults: Faults, blows: Iterator[Blow]) -> None:
        self._cloud = cloud
        self._functions = functions
        self._faults = faults
        self._blows = blows
        self._direct: Counter[str] = Counter()

    @property
    def hits(self) -> Counter[str]:
        """The hits so far."""
        return self._direct + Counter(self._faults.hits)

    async def run(self) -> None:
        """Until cancelled; then all faults are off."""
        try:
            async with asyncio.TaskGroup() as blows:
                for blow in self._blows:
                    await asyncio.sleep(blow.gap)
                    await self._strike(blow, blows)
        finally:
            self._faults.switch_off()

    async def _strike(self, blow: Blow, blows: asyncio.TaskGroup) -> None:
        if blow.name == RESTART:
            self._direct[RESTART] += 1
            await self._cloud.restart_pubsub()
        elif blow.name.endswith(KILL) and not blow.lasts:
            self._direct[blow.name] += 1
            self._functions.kill(blow.name.removesuffix(f"-{KILL}"))
        else:
            blows.create_task(self._hold(blow))

    async def _hold(self, blow: Blow) -> None:
        self._faults.switch_on(blow.name, share=blow.share, seconds=blow.seconds)
        await asyncio.sleep(blow.lasts)
        self._faults.switch_off(blow.name)
