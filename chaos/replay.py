"""Replays all dead letters with the operators' own tool."""

from ops.audit import new_operation
from ops.bulk_replay import Ends, Run
from ops.replay import Order
from ops.selection import Selection
from ops.settings import Settings
from ops.world import World

#: Messages per second: so many that the rate is not limited.
RATE = 1000.0


def replay(project: str) -> None:
    """Replay all open cases. Raises what Firestore raises."""
    world = World(Settings(google_cloud_project=project, operator="chaos"))
    order = Order(new_operation("replay", "chaos", "faults are off"))
    world.audit.begin(order.operation, "all")
    # It never stops because letters come back. The checker judges those.
    run = Run(world, order, RATE, Ends(world, stop_at=1.0), on_result=lambda _: None, on_look=lambda _: None)
    run.send(world.store.select(Selection()))
