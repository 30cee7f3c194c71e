"""Job-shop scheduling: each job is a list of tasks in order, and a machine works on one task at a time."""

import argparse
import json
import os
import sys
import time

from ortools.sat.python import cp_model

# Any other status of CP-SAT is an error, and the run fails.
STATUS = {
    cp_model.OPTIMAL: "optimal",
    cp_model.FEASIBLE: "time_limit",
    cp_model.UNKNOWN: "time_limit",
    cp_model.INFEASIBLE: "infeasible",
}


def read_previous():
    """Returns the starts of each job's tasks in the previous run that the caller named; empty without one."""
    path = os.environ.get("SWITCHYARD_PREVIOUS")
    if not path:
        return {}
    try:
        with open(path) as file:
            schedule = json.load(file)["solution"]["schedule"]
        return {(task["job"], task["task"]): int(task["start"]) for task in schedule}
    except (OSError, ValueError, LookupError, TypeError) as error:
        print(f"Ignoring the previous run, whose output does not fit: {error!r}", file=sys.stderr)
        return {}


def build(model, jobs):
    """Returns the start of each task, and the tasks of each machine."""
    horizon = sum(task["duration"] for job in jobs for task in job["tasks"])
    makespan = model.new_int_var(0, horizon, "makespan")
    starts, by_machine = {}, {}
    for job in jobs:
        previous_end = 0
        for t, task in enumerate(job["tasks"]):
            start = model.new_int_var(0, horizon, f"start {job['id']} {t}")
            interval = model.new_fixed_size_interval_var(start, task["duration"], f"task {job['id']} {t}")
            by_machine.setdefault(task["machine"], []).append(interval)
            model.add(start >= previous_end)
            previous_end = start + task["duration"]
            starts[job["id"], t] = start
        model.add(makespan >= previous_end)
        if "due" in job:
            model.add(previous_end <= job["due"])
    for intervals in by_machine.values():
        model.add_no_overlap(intervals)
    model.minimize(makespan)
    return starts, by_machine


def start_from(model, previous, starts):
    """Passes the part of the previous schedule that this input still has; CP-SAT completes it."""
    hints = [(starts[key], start) for key, start in previous.items() if key in starts]
    if hints:
        print(f"Starting from the previous schedule for {len(hints)} tasks.", file=sys.stderr)
    for variable, start in hints:
        model.add_hint(variable, start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-duration", type=float, default=10)
    parser.add_argument("-seed", type=int, default=1)
    parser.add_argument("-workers", type=int, default=1)
    options = parser.parse_args()
    jobs = json.load(sys.stdin)["jobs"]

    # Standard output is for the result. What the solver prints there goes to standard error, the log of the run, where
    # the server reads its progress.
    result = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(f"Scheduling {len(jobs)} jobs.", file=sys.stderr)

    started = time.monotonic()
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = options.duration
    solver.parameters.random_seed = options.seed
    solver.parameters.num_workers = options.workers
    solver.parameters.log_search_progress = True
    model = cp_model.CpModel()
    starts, by_machine = build(model, jobs)
    start_from(model, read_previous(), starts)
    status = solver.solve(model)

    statistics = {"custom": {"status": STATUS[status]}}
    schedule = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        schedule = [
            {"job": job["id"], "task": t, **task, "start": solver.value(starts[job["id"], t])}
            for job in jobs
            for t, task in enumerate(job["tasks"])
        ]
        schedule.sort(key=lambda task: task["start"])
        makespan = solver.objective_value
        work = sum(task["duration"] for task in schedule)
        statistics["value"] = makespan
        statistics["custom"]["bound"] = solver.best_objective_bound
        statistics["custom"]["utilization"] = round(work / (makespan * len(by_machine)), 4) if makespan else 0
    json.dump(
        {
            "options": vars(options),
            "solution": None if schedule is None else {"schedule": schedule},
            "statistics": {
                "schema": "v1",
                "run": {"duration": round(time.monotonic() - started, 3)},
                "result": statistics,
            },
        },
        result,
    )


main()
