"""Job-shop scheduling: each job is a list of tasks in order, and a machine works on one task at a time."""

import argparse
import json
import sys
import time

from ortools.sat.python import cp_model


class Progress(cp_model.CpSolverSolutionCallback):
    """Reports each better schedule to standard error, where the server reads it as a series."""

    def __init__(self):
        super().__init__()
        self.started = time.monotonic()
        self.points = []

    def on_solution_callback(self):
        makespan, bound = self.objective_value, self.best_objective_bound
        self.points.append({"x": round(time.monotonic() - self.started, 3), "y": makespan})
        print(json.dumps({"series": {"objective": makespan, "bound": bound}}), file=sys.stderr, flush=True)


def build(jobs):
    """Returns the model, the interval of each task, and the makespan."""
    model = cp_model.CpModel()
    horizon = sum(task["duration"] for job in jobs for task in job["tasks"])
    makespan = model.new_int_var(0, horizon, "makespan")
    starts, by_machine = {}, {}
    for j, job in enumerate(jobs):
        previous_end = 0
        for t, task in enumerate(job["tasks"]):
            start = model.new_int_var(0, horizon, f"start {j} {t}")
            interval = model.new_fixed_size_interval_var(start, task["duration"], f"task {j} {t}")
            by_machine.setdefault(task["machine"], []).append(interval)
            model.add(start >= previous_end)
            previous_end = start + task["duration"]
            starts[j, t] = start
        model.add(makespan >= previous_end)
    for intervals in by_machine.values():
        model.add_no_overlap(intervals)
    model.minimize(makespan)
    return model, starts, by_machine


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-duration", type=float, default=10)
    parser.add_argument("-seed", type=int, default=1)
    parser.add_argument("-workers", type=int, default=1)
    options = parser.parse_args()
    jobs = json.load(sys.stdin)["jobs"]
    print(f"Scheduling {len(jobs)} jobs.", file=sys.stderr)

    model, starts, by_machine = build(jobs)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = options.duration
    solver.parameters.random_seed = options.seed
    solver.parameters.num_workers = options.workers
    progress = Progress()
    status = solver.solve(model, progress)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        sys.exit(f"No schedule was found: the solver ended with {solver.status_name(status)}.")

    schedule = [
        {"job": job["id"], "machine": task["machine"], "start": solver.value(starts[j, t]), "duration": task["duration"]}
        for j, job in enumerate(jobs)
        for t, task in enumerate(job["tasks"])
    ]
    makespan = solver.objective_value
    work = sum(task["duration"] for task in schedule)
    json.dump(
        {
            "options": vars(options),
            "solution": {"schedule": sorted(schedule, key=lambda task: task["start"])},
            "statistics": {
                "schema": "v1",
                "run": {"duration": round(solver.wall_time, 3)},
                "result": {
                    "value": makespan,
                    "custom": {
                        "status": solver.status_name(status).lower(),
                        "bound": solver.best_objective_bound,
                        "utilization": round(work / (makespan * len(by_machine)), 4) if makespan else 0,
                    },
                },
                "series_data": {"value": {"name": "makespan", "data_points": progress.points}},
            },
        },
        sys.stdout,
    )


main()
