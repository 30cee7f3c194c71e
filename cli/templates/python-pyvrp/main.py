"""Vehicle routing: the shortest routes from one depot to all customers, within the capacities of the vehicles."""

import argparse
import json
import math
import os
import sys
import time

from pyvrp import Model, Solution, SolveParams
from pyvrp.stop import MaxIterations, MaxRuntime, MultipleCriteria


def read_previous():
    """Returns the routes of the previous run that the caller named; empty without one."""
    path = os.environ.get("SWITCHYARD_PREVIOUS")
    if not path:
        return []
    try:
        with open(path) as file:
            routes = json.load(file)["solution"]["routes"]
        return [list(dict.fromkeys(route["stops"])) for route in routes]
    except (OSError, ValueError, LookupError, TypeError) as error:
        print(f"Ignoring the previous run, whose output does not fit: {error!r}", file=sys.stderr)
        return []


def build(problem):
    depot, customers = problem["depot"], problem["customers"]
    model = Model()
    places = [model.add_location(*place["location"]) for place in [depot, *customers]]
    model.add_depot(places[0])
    for customer, place in zip(customers, places[1:]):
        model.add_client(place, delivery=customer["demand"])
    model.add_vehicle_type(problem["vehicles"], capacity=problem["capacity"])
    for a in places:
        for b in places:
            model.add_edge(a, b, distance=round(math.hypot(a.x - b.x, a.y - b.y)))
    return model


def start_from(previous, data, problem):
    """Returns the part of the previous routes that this input still has, which PyVRP completes; None without one."""
    index = {customer["id"]: i for i, customer in enumerate(problem["customers"])}
    routes = [[index.pop(stop) for stop in stops if stop in index] for stops in previous]
    routes = [route for route in routes if route][: problem["vehicles"]]
    if not routes:
        return None
    print(f"Starting from {len(routes)} previous routes.", file=sys.stderr)
    return Solution(data, routes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-duration", type=float, default=5)
    parser.add_argument("-seed", type=int, default=1)
    parser.add_argument("-iterations", type=int, default=100000)
    options = parser.parse_args()
    problem = json.load(sys.stdin)

    # Standard output is for the result. What the solver prints there goes to standard error, the log of the run, where
    # the server reads its progress.
    result = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(f"Planning routes to {len(problem['customers'])} customers.", file=sys.stderr)

    started = time.monotonic()
    model = build(problem)
    solved = model.solve(
        MultipleCriteria([MaxRuntime(options.duration), MaxIterations(options.iterations)]),
        seed=options.seed,
        params=SolveParams(display_interval=1),
        initial_solution=start_from(read_previous(), model.data(), problem),
    )

    # PyVRP proves nothing: without a feasible plan at the end, the input is reported as infeasible.
    statistics = {"custom": {"status": "feasible" if solved.is_feasible() else "infeasible"}}
    statistics["custom"]["iterations"] = solved.num_iterations
    routes = None
    if solved.is_feasible():
        names = [customer["id"] for customer in problem["customers"]]
        routes = [
            {
                "stops": [names[visit.idx] for visit in route if visit.is_client()],
                "distance": route.distance(),
                "load": sum(route.delivery()),
            }
            for route in solved.best.routes()
        ]
        statistics["value"] = solved.cost()
        statistics["custom"]["vehicles_used"] = len(routes)
    json.dump(
        {
            "options": vars(options),
            "solution": None if routes is None else {"routes": routes},
            "statistics": {
                "schema": "v1",
                "run": {"duration": round(time.monotonic() - started, 3)},
                "result": statistics,
            },
        },
        result,
    )


main()
