"""Production planning: when to set a machine up for a product, how much to make and to stock, so that demand is met."""

import argparse
import json
import logging
import os
import sys
import time

import pyomo.environ as pyo
from pyomo.contrib.appsi.base import TerminationCondition
from pyomo.contrib.appsi.solvers import Highs

# Any other status of the solver is an error, and the run fails.
STATUS = {
    TerminationCondition.optimal: "optimal",
    TerminationCondition.maxTimeLimit: "time_limit",
    TerminationCondition.infeasible: "infeasible",
    TerminationCondition.infeasibleOrUnbounded: "infeasible",
}


def read_previous():
    """Returns the amounts that the previous run, which the caller named, makes of each product; empty without one."""
    path = os.environ.get("SWITCHYARD_PREVIOUS")
    if not path:
        return {}
    try:
        with open(path) as file:
            plan = json.load(file)["solution"]["plan"]
        return {(entry["product"], w): float(amount) for entry in plan for w, amount in enumerate(entry["make"])}
    except (OSError, ValueError, LookupError, TypeError) as error:
        print(f"Ignoring the previous run, whose output does not fit: {error!r}", file=sys.stderr)
        return {}


def build(problem):
    weeks = range(problem["weeks"])
    products = {p["id"]: p for p in problem["products"]}
    model = pyo.ConcreteModel()
    model.make = pyo.Var(products, weeks, domain=pyo.NonNegativeReals)
    model.stock = pyo.Var(products, weeks, domain=pyo.NonNegativeReals)
    model.setup = pyo.Var(products, weeks, domain=pyo.Binary)

    @model.Constraint(products, weeks)
    def balance(m, p, w):
        before = m.stock[p, w - 1] if w > 0 else products[p]["initial_stock"]
        return before + m.make[p, w] == products[p]["demand"][w] + m.stock[p, w]

    @model.Constraint(products, weeks)
    def only_after_setup(m, p, w):
        return m.make[p, w] <= sum(products[p]["demand"]) * m.setup[p, w]

    @model.Constraint(weeks)
    def capacity(m, w):
        hours = sum(
            products[p]["hours_per_unit"] * m.make[p, w] + products[p]["setup_hours"] * m.setup[p, w] for p in products
        )
        return hours <= problem["hours_per_week"]

    model.setup_cost = pyo.Expression(
        expr=sum(products[p]["setup_cost"] * model.setup[p, w] for p in products for w in weeks)
    )
    model.stock_cost = pyo.Expression(
        expr=sum(products[p]["stock_cost"] * model.stock[p, w] for p in products for w in weeks)
    )
    model.cost = pyo.Objective(expr=model.setup_cost + model.stock_cost, sense=pyo.minimize)
    return model, products, weeks


def start_from(solver, previous, model):
    """Passes the setups of the previous plan that this input still has; HiGHS computes the amounts."""
    known = [key for key in model.setup if key in previous]
    if known:
        print(f"Starting from the previous plan for {len(known)} products and weeks.", file=sys.stderr)
        solver.config.warmstart = True
    for key in known:
        model.setup[key].value = int(previous[key] > 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-duration", type=float, default=10)
    parser.add_argument("-seed", type=int, default=1)
    parser.add_argument("-gap", type=float, default=0.0001)
    options = parser.parse_args()
    problem = json.load(sys.stdin)

    # Standard output is for the result. What the solver prints there goes to standard error, the log of the run, where
    # the server reads its progress. Pyomo would keep it until the end; a logger with a stream of its own writes each line.
    result = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    log = logging.getLogger("solver")
    log.addHandler(logging.StreamHandler(os.fdopen(os.dup(2), "w")))
    log.setLevel(logging.INFO)
    print(f"Planning {len(problem['products'])} products over {problem['weeks']} weeks.", file=sys.stderr)

    started = time.monotonic()
    solver = Highs()
    solver.config.time_limit = options.duration
    solver.config.mip_gap = options.gap
    solver.config.solver_output_logger = log
    solver.config.log_level = logging.INFO
    solver.config.load_solution = False
    solver.highs_options = {"random_seed": options.seed}
    model, products, weeks = build(problem)
    start_from(solver, read_previous(), model)
    solved = solver.solve(model)

    statistics = {"custom": {"status": STATUS[solved.termination_condition]}}
    plan = None
    if solved.best_feasible_objective is not None:
        solved.solution_loader.load_vars()
        plan = [
            {
                "product": p,
                # Adding 0 makes a solver's -0.0 a plain 0.
                "make": [round(pyo.value(model.make[p, w]), 3) + 0 for w in weeks],
                "stock": [round(pyo.value(model.stock[p, w]), 3) + 0 for w in weeks],
            }
            for p in products
        ]
        statistics["value"] = round(solved.best_feasible_objective, 6)
        statistics["custom"]["bound"] = round(solved.best_objective_bound, 6)
        statistics["custom"]["setups"] = round(sum(pyo.value(model.setup[p, w]) for p in products for w in weeks))
        statistics["custom"]["setup_cost"] = round(pyo.value(model.setup_cost), 6)
        statistics["custom"]["stock_cost"] = round(pyo.value(model.stock_cost), 6)
    json.dump(
        {
            "options": vars(options),
            "solution": None if plan is None else {"plan": plan},
            "statistics": {
                "schema": "v1",
                "run": {"duration": round(time.monotonic() - started, 3)},
                "result": statistics,
            },
        },
        result,
    )


main()
