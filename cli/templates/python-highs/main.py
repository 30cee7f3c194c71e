"""Facility location: open warehouses and assign each customer to one, at the least cost of opening and of distance."""

import argparse
import json
import math
import os
import sys
import time

import highspy

# Any other status of HiGHS is an error, and the run fails.
STATUS = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kTimeLimit: "time_limit",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "infeasible",
}


def read_previous():
    """Returns the warehouse of each customer in the previous run that the caller named; empty without one."""
    path = os.environ.get("SWITCHYARD_PREVIOUS")
    if not path:
        return {}
    try:
        with open(path) as file:
            plan = json.load(file)["solution"]["warehouses"]
        return {c: entry["warehouse"] for entry in plan for c in entry["customers"]}
    except (OSError, ValueError, LookupError, TypeError) as error:
        print(f"Ignoring the previous run, whose output does not fit: {error!r}", file=sys.stderr)
        return {}


def build(highs, warehouses, customers):
    """Returns the variables: whether a warehouse is open, and whether it serves a customer."""
    opened = {w["id"]: highs.addBinary(obj=w["cost"]) for w in warehouses}
    assigned = {
        (c["id"], w["id"]): highs.addBinary(obj=c["demand"] * math.dist(c["location"], w["location"]))
        for c in customers
        for w in warehouses
    }
    for c in customers:
        highs.addConstr(sum(assigned[c["id"], w["id"]] for w in warehouses) == 1)
    for w in warehouses:
        load = sum(c["demand"] * assigned[c["id"], w["id"]] for c in customers)
        highs.addConstr(load <= w["capacity"] * opened[w["id"]])
    return opened, assigned


def start_from(highs, previous, opened, assigned):
    """Passes the part of the previous plan that this input still has; HiGHS completes it."""
    pairs = [(c, w) for c, w in previous.items() if (c, w) in assigned]
    if pairs:
        print(f"Starting from the previous plan for {len(pairs)} customers.", file=sys.stderr)
        start = {assigned[pair].index for pair in pairs} | {opened[w].index for _, w in pairs}
        highs.setSolution(len(start), sorted(start), [1] * len(start))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-duration", type=float, default=10)
    parser.add_argument("-seed", type=int, default=1)
    parser.add_argument("-gap", type=float, default=0.0001)
    options = parser.parse_args()
    problem = json.load(sys.stdin)
    warehouses, customers = problem["warehouses"], problem["customers"]

    # Standard output is for the result. What the solver prints there goes to standard error, the log of the run, where
    # the server reads its progress.
    result = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(f"Locating up to {len(warehouses)} warehouses for {len(customers)} customers.", file=sys.stderr)

    started = time.monotonic()
    highs = highspy.Highs()
    highs.setOptionValue("time_limit", options.duration)
    highs.setOptionValue("random_seed", options.seed)
    highs.setOptionValue("mip_rel_gap", options.gap)
    opened, assigned = build(highs, warehouses, customers)
    start_from(highs, read_previous(), opened, assigned)
    highs.minimize()

    info = highs.getInfo()
    statistics = {"custom": {"status": STATUS[highs.getModelStatus()]}}
    plan = None
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        plan = [
            {"warehouse": w, "customers": [c["id"] for c in customers if highs.val(assigned[c["id"], w]) > 0.5]}
            for w in opened
            if highs.val(opened[w]) > 0.5
        ]
        statistics["value"] = round(info.objective_function_value, 6)
        statistics["custom"]["bound"] = round(info.mip_dual_bound, 6)
        statistics["custom"]["warehouses_opened"] = len(plan)
    json.dump(
        {
            "options": vars(options),
            "solution": None if plan is None else {"warehouses": plan},
            "statistics": {
                "schema": "v1",
                "run": {"duration": round(time.monotonic() - started, 3)},
                "result": statistics,
            },
        },
        result,
    )


main()
