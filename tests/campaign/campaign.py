"""A campaign: random work of all kinds with faults, then rest, then the invariants."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

import app
from chalicelib.queues import ALL_QUEUES
from chalicelib.services.feedback import limit_submissions
from chalicelib.services.webhooks import send as webhooks
from chalicelib.settings import settings
from infrastructure.functions import FUNCTIONS
from tests.aws.tables import template
from tests.campaign import invariants
from tests.campaign.partners import PartnerWorld
from tests.campaign.restore import back_up, restore
from tests.campaign.simulation import (
    NO_FAULTS,
    Invocation,
    Rates,
    SimulatedQueue,
    Simulation,
    installed,
)
from tests.campaign.world import World

REQUESTS: Final = 1_500
"""The number of AWS requests with faults, without those of the sweeper."""
_LOADED_S: Final = 2
"""The time after which all reads return the definitions of the accounts."""
_REST_S: Final = 4 * 86_400
_MAX_STEP_S: Final = 3_600


@dataclass(frozen=True)
class Report:
    """The result of a campaign.

    Attributes:
        swept: the number of AWS requests of the sweeper, which ``requests`` contains.
        violations: the broken invariants.
    """

    seed: int
    requests: int
    swept: int
    faults: Counter[str]
    done: Counter[str]
    violations: list[str]


def run(seed: int) -> Report:
    """Run the campaign of a seed."""
    simulation = Simulation(seed, NO_FAULTS, queues)
    with installed(simulation), pytest.MonkeyPatch.context() as patch:
        world = PartnerWorld(simulation, has_accidents=seed % 4 == 3)
        simulation.now += _LOADED_S
        patch.setattr(webhooks, "post", world.post)
        limited = replace(settings(), submissions=1_000_000)
        patch.setattr(limit_submissions, "settings", lambda: limited)
        webhooks.circuit_breaker.close_all()
        simulation.rates = rates(simulation.random)
        if seed % 4 == 1:
            # Times decide whether a restored customer was created again after its erasure.
            simulation.hosts = [0.0]
            work(simulation, world, lambda: simulation.unswept >= REQUESTS // 3)
            backup = back_up(world)
            work(simulation, world, lambda: simulation.unswept >= REQUESTS * 2 // 3)
            restore(world, backup)
        work(simulation, world, lambda: simulation.unswept >= REQUESTS)
        rest(simulation)
        violations = [*world.record.violations, *invariants.broken(simulation, world)]
    done = _done(simulation, world)
    return Report(seed, simulation.number, simulation.swept, simulation.faults, done, violations)


def rates(chance: random.Random) -> Rates:
    """Return the rates of a seed. Some seeds have many faults of one kind."""
    rates = Rates()
    often = {"switched": 0.9, "repeated_message": 0.4}
    often |= {"torn": 0.5}
    often |= dict.fromkeys(("lost", "conflict", "throttled", "killed", "repeated"), 0.06)
    kind = chance.choice(["", *often])
    return replace(rates, **{kind: often[kind]}) if kind else rates


def work(simulation: Simulation, world: World, is_done: Callable[[], bool]) -> None:
    """Run random work with faults until the goal is reached."""
    chance = simulation.random
    next_sweep = simulation.now + 60
    while not is_done():
        if simulation.now >= next_sweep:
            next_sweep = simulation.now + chance.choice([300, 600])
            _start_sweep(simulation)
        event = chance.random()
        if simulation.invocations and event < 0.8:
            simulation.step()
        elif event < 0.9:
            simulation.deliver(chance.choice([*simulation.queues.values()]))
        elif event < 0.94:
            world.act()
        elif event < 0.945:
            simulation.set_lag(chance.choice([0, 0.1, 2, 30, 120]))
        elif event < 0.95:
            world.new_process()
        elif event < 0.951:
            simulation.throttled_until = simulation.now + chance.uniform(5, 40)
        elif event < 0.952:
            simulation.stop(chance.choice([*simulation.queues]), chance.uniform(600, 3_600))
        elif event < 0.954:
            simulation.refused_until = simulation.now + chance.uniform(5, 600)
        elif simulation.invocations:
            simulation.now += chance.uniform(0, 2)
        else:
            simulation.now += chance.choice([1, 10, 60, 300])


def rest(simulation: Simulation) -> None:
    """Let the service finish its work without faults, until none is due within some days."""
    simulation.rates, simulation.tables.lag_s = NO_FAULTS, 0
    simulation.throttled_until = simulation.refused_until = 0
    simulation.hosts = [0.0]
    end, step_s = simulation.now + _REST_S, 1.0
    while simulation.now < end:
        simulation.finish()
        if sum(simulation.deliver(queue) for queue in simulation.queues.values()):
            continue
        due = [*invariants.due_times(simulation.tables), *_visible_times(simulation)]
        if not due:
            return
        simulation.now = max(simulation.now + step_s, min(due) + 1)
        step_s = min(_MAX_STEP_S, step_s * 1.5)
        if any(each <= simulation.now for each in invariants.due_times(simulation.tables)):
            _start_sweep(simulation)


def _visible_times(simulation: Simulation) -> Iterator[float]:
    for queue in simulation.queues.values():
        yield from (message.visible_at for message in queue.messages)


def _start_sweep(simulation: Simulation) -> None:
    names = ("account", "detail", "detail-type", "id", "region", "source", "time", "version")
    event: Any = {**dict.fromkeys(names, ""), "resources": []}

    def run(invocation: Invocation) -> None:
        try:
            app.sweep(event, invocation)
        except Exception as error:  # Lambda logs it, and the next sweep continues
            simulation.faults[f"sweep: {type(error).__name__}"] += 1

    simulation.start("sweep", run, 50, None)


def queues() -> list[SimulatedQueue]:
    properties = template("test").by_name("AWS::SQS::Queue", "QueueName")
    functions = {function.queue: function for function in FUNCTIONS if function.queue}
    return [
        SimulatedQueue(
            queue.name,
            getattr(app, functions[queue].name),
            queue.batch_size,
            properties[f"feedback-test-{queue.name}"]["VisibilityTimeout"],
            functions[queue].timeout_s,
            is_only_copy=queue.name in ("purchases", "message-events"),
        )
        for queue in ALL_QUEUES
    ]


def _done(simulation: Simulation, world: World) -> Counter[str]:
    done: Counter[str] = Counter()
    for name, row in simulation.tables.all_rows():
        state = row.get("state", {}).get("S")
        if state:
            done[f"{name} {state}"] += 1
    done["messages"] = len(simulation.mails)
    done["webhook requests"] = len(world.record.posts)
    done["erasures"] = len(world.record.erasures)
    return done
