"""Multi-constraint 0/1 knapsack: a problem on standard input, the best selection found on standard output.

Everything a person reads while it runs goes to standard error.
"""

import json
import random
import signal
import sys

from incumbent import Incumbent
from problem import InputError, Problem, read_options, read_problem
from relaxation import relax
from search import BranchAndBound, fill, local_search, used_by, value_of


def solve(problem: Problem, options: dict, incumbent: Incumbent) -> dict:
    """Runs the search and returns status, reasons and counts; the selection is in the incumbent."""
    required = [index for index, item in enumerate(problem.items) if item.required]
    used = used_by(problem, required)
    reasons = [
        f'the required items use {amount:g} of "{name}", but its capacity is {capacity:g}'
        for r, (name, capacity, amount) in enumerate(zip(problem.resources, problem.capacities, used))
        if not problem.fits(amount, r)
    ]
    if reasons:
        return {"status": "infeasible", "reasons": reasons, "nodes": 0, "rounds": 0}

    def fits_alone(index: int) -> bool:
        uses = problem.items[index].uses
        return all(problem.fits(used[r] + use, r) for r, use in enumerate(uses))

    candidates = [i for i, item in enumerate(problem.items) if not item.required and fits_alone(i)]
    room = [max(0.0, capacity - amount) for capacity, amount in zip(problem.capacities, used)]

    def density(index: int) -> float:
        item = problem.items[index]
        share = sum(use / capacity for use, capacity in zip(item.uses, room) if capacity > 0)
        return item.value / max(share, 1e-12)

    offer_filled(problem, incumbent, required, sorted(candidates, key=density, reverse=True))
    base_value = value_of(problem, required)
    relaxation = relax(
        [problem.items[index].value for index in candidates],
        [problem.items[index].uses for index in candidates],
        room,
        (incumbent.value or 0) - base_value,
        lambda: incumbent.out_of_time(0.5),
    )
    incumbent.bound = base_value + relaxation.bound
    incumbent.say("  (bound from resource prices)")
    reduced = dict(zip(candidates, relaxation.reduced))
    order = sorted(candidates, key=lambda index: -reduced[index])
    offer_filled(problem, incumbent, required, order)

    generator = random.Random(options["seed"])
    rounds = local_search(problem, incumbent, order, generator, options["search.share"])
    search = BranchAndBound(problem, incumbent, candidates, relaxation)
    proved = search.run()
    if proved:
        incumbent.bound = incumbent.value
    return {
        "status": "optimal" if proved else "feasible",
        "reasons": [],
        "nodes": search.nodes,
        "rounds": rounds,
    }


def offer_filled(problem: Problem, incumbent: Incumbent, required, order) -> None:
    chosen = set(required)
    fill(problem, order, chosen, used_by(problem, chosen))
    incumbent.offer(value_of(problem, chosen), sorted(chosen))


def report(problem: Problem, options: dict, incumbent: Incumbent, outcome: dict) -> dict:
    used = used_by(problem, incumbent.chosen)
    custom = {
        "status": outcome["status"],
        "items": len(incumbent.chosen),
        "nodes": outcome["nodes"],
        "local_search_rounds": outcome["rounds"],
    }
    if incumbent.value is not None:
        bound = max(incumbent.bound, incumbent.value)
        custom["bound"] = round(bound, 6)
        custom["gap"] = round((bound - incumbent.value) / bound, 6) if bound > 0 else 0
    return {
        "options": options,
        "solution": {
            "status": outcome["status"],
            "reasons": outcome["reasons"],
            "items": [problem.items[index].id for index in incumbent.chosen],
            "used": {name: round(amount, 9) for name, amount in zip(problem.resources, used)},
        },
        "statistics": incumbent.statistics(custom, outcome["nodes"] + outcome["rounds"]),
    }


def main() -> int:
    try:
        options = read_options(sys.argv[1:])
        problem = read_problem(sys.stdin.buffer.read().decode("utf-8", errors="replace"))
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    stopped = []
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stopped.append(True))
    incumbent = Incumbent(options["duration"], lambda: bool(stopped))
    outcome = solve(problem, options, incumbent)
    incumbent.say(f"  {outcome['status']}")
    print(json.dumps(report(problem, options, incumbent, outcome), allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
