"""Lot sizing: decide in which weeks to set the machine up for a product, how much to make, and how much to stock."""

import argparse
import json
import sys
import time

import pyomo.environ as pyo
from pyomo.contrib.appsi.solvers import Highs


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-duration", type=float, default=10)
    parser.add_argument("-gap", type=float, default=0.0001)
    options = parser.parse_args()
    problem = json.load(sys.stdin)
    model, products, weeks = build(problem)
    print(f"Planning {len(products)} products over {len(weeks)} weeks.", file=sys.stderr)

    solver = Highs()
    solver.config.time_limit = options.duration
    solver.config.mip_gap = options.gap
    solver.config.load_solution = False
    started = time.monotonic()
    result = solver.solve(model)
    duration = time.monotonic() - started
    if result.best_feasible_objective is None:
        sys.exit(f"No plan was found: the solver ended with {result.termination_condition.name}.")
    result.solution_loader.load_vars()

    cost, bound = result.best_feasible_objective, result.best_objective_bound
    print(json.dumps({"series": {"objective": cost, "bound": bound}}), file=sys.stderr)
    plan = [
        {
            "product": p,
            # Adding 0 makes a solver's -0.0 a plain 0.
            "make": [round(pyo.value(model.make[p, w]), 3) + 0 for w in weeks],
            "stock": [round(pyo.value(model.stock[p, w]), 3) + 0 for w in weeks],
        }
        for p in products
    ]
    json.dump(
        {
            "options": vars(options),
            "solution": {"plan": plan},
            "statistics": {
                "schema": "v1",
                "run": {"duration": round(duration, 3)},
                "result": {
                    "value": round(cost, 6),
                    "custom": {
                        "status": result.termination_condition.name.lower(),
                        "setups": round(sum(pyo.value(model.setup[p, w]) for p in products for w in weeks)),
                        "setup_cost": round(pyo.value(model.setup_cost), 6),
                        "stock_cost": round(pyo.value(model.stock_cost), 6),
                        "bound": round(bound, 6),
                    },
                },
                "series_data": {"value": {"name": "cost", "data_points": [{"x": round(duration, 3), "y": cost}]}},
            },
        },
        sys.stdout,
    )


main()
