"""Facility location: open warehouses and assign each customer to one, at the least cost of opening and of distance."""

import argparse
import json
import math
import os
import sys
import time

import highspy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-duration", type=float, default=10)
    parser.add_argument("-seed", type=int, default=1)
    parser.add_argument("-gap", type=float, default=0.0001)
    options = parser.parse_args()
    problem = json.load(sys.stdin)
    warehouses, customers = problem["warehouses"], problem["customers"]
    print(f"Locating up to {len(warehouses)} warehouses for {len(customers)} customers.", file=sys.stderr)

    # Standard output is for the result. What the solver prints there goes to standard error, the log of the run, where
    # the server reads its progress.
    result = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    highs = highspy.Highs()
    highs.setOptionValue("time_limit", options.duration)
    highs.setOptionValue("random_seed", options.seed)
    highs.setOptionValue("mip_rel_gap", options.gap)

    points = []
    started = time.monotonic()

    def report(event):
        value = round(event.data_out.objective_function_value, 6)
        # The solver also reports solutions that are better only by its rounding.
        if points and value >= points[-1]["y"]:
            return
        points.append({"x": round(time.monotonic() - started, 3), "y": value})

    highs.cbMipImprovingSolution += report

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
    highs.minimize()

    status = highs.modelStatusToString(highs.getModelStatus())
    info = highs.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        sys.exit(f"No plan was found: the solver ended with {status}.")
    value = info.objective_function_value
    values = {key: highs.val(variable) for key, variable in [*opened.items(), *assigned.items()]}
    plan = [
        {
            "warehouse": w["id"],
            "customers": [c["id"] for c in customers if values[c["id"], w["id"]] > 0.5],
        }
        for w in warehouses
        if values[w["id"]] > 0.5
    ]
    json.dump(
        {
            "options": vars(options),
            "solution": {"warehouses": plan},
            "statistics": {
                "schema": "v1",
                "run": {"duration": round(time.monotonic() - started, 3)},
                "result": {
                    "value": round(value, 6),
                    "custom": {
                        "status": status.lower(),
                        "warehouses_opened": len(plan),
                        "gap": round(info.mip_gap, 6) if math.isfinite(info.mip_gap) else None,
                    },
                },
                "series_data": {"value": {"name": "cost", "data_points": points or [{"x": 0, "y": value}]}},
            },
        },
        result,
    )


main()
