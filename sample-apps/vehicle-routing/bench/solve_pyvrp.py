"""Solves one instance with PyVRP for a number of seconds, so that the benchmark can print its gap beside ours.

Reads one JSON object on stdin ({seconds, seed, capacity, vehicles, timed, nodes, distance}), all numbers whole, and
writes {"routes": [[customer, ...], ...], "iterations": n} on stdout. The time counts the search alone.
"""

import json
import sys

import numpy as np
from pyvrp import Client, Depot, Location, ProblemData, VehicleType, solve
from pyvrp.stop import MaxRuntime


def problem(instance):
    nodes = instance["nodes"]
    matrix = np.array(instance["distance"], dtype=np.int64)
    depot, *customers = nodes

    def window(node):
        return {"tw_early": node["from"], "tw_late": node["to"]} if instance["timed"] else {}

    clients = [
        Client(i + 1, delivery=[node["demand"]], service_duration=node["service"], **window(node))
        for i, node in enumerate(customers)
    ]
    vehicle = VehicleType(instance["vehicles"], [instance["capacity"]], **window(depot))
    return ProblemData(
        [Location(node["x"], node["y"]) for node in nodes],
        clients,
        [Depot(0, **window(depot))],
        [vehicle],
        [matrix],
        [matrix if instance["timed"] else np.zeros_like(matrix)],
    )


def main():
    instance = json.load(sys.stdin)
    stop = MaxRuntime(instance["seconds"])
    result = solve(problem(instance), stop, seed=instance["seed"], collect_stats=False, display=False)
    routes = [[activity.idx + 1 for activity in route if activity.is_client()] for route in result.best.routes()]
    json.dump({"routes": routes, "iterations": result.num_iterations}, sys.stdout)


main()
