"""Small mixed-integer models, each as text in the LP format that every solver of the logs reads."""

from random import Random


def _sum(terms):
    return " + ".join(f"{factor} {name}" for factor, name in terms)


def _format(sense, objective, constraints, binaries):
    rows = [f" c{index}: {row}" for index, row in enumerate(constraints)]
    # CBC reads lines of at most 255 characters.
    body = "\n".join([sense, f" obj: {objective}", "Subject To", *rows, "Binary", *binaries, "End", ""])
    return body.replace(" + ", "\n + ")


def build_location(facilities=14, customers=30, seed=7):
    """Returns a capacitated facility location with single sourcing: minimise."""
    random = Random(seed)
    demand = [random.randint(5, 35) for _ in range(customers)]
    capacity = [random.randint(80, 160) for _ in range(facilities)]
    opening = [(random.randint(300, 900), f"y{f}") for f in range(facilities)]
    serving = [
        (random.randint(10, 200), f"x{f}_{c}") for f in range(facilities) for c in range(customers)
    ]
    rows = [_sum((1, f"x{f}_{c}") for f in range(facilities)) + " = 1" for c in range(customers)]
    rows += [
        _sum((demand[c], f"x{f}_{c}") for c in range(customers)) + f" - {capacity[f]} y{f} <= 0"
        for f in range(facilities)
    ]
    names = [name for _, name in opening + serving]
    return _format("Minimize", _sum(opening + serving), rows, names)


def build_knapsack(items, dimensions, seed=3):
    """Returns a knapsack of several dimensions: maximise."""
    random = Random(seed)
    weights = [[random.randint(10, 99) for _ in range(items)] for _ in range(dimensions)]
    profit = [(sum(row[i] for row in weights) // dimensions + random.randint(0, 20), f"x{i}") for i in range(items)]
    rows = [
        _sum((weight, f"x{i}") for i, weight in enumerate(row)) + f" <= {sum(row) // 2}" for row in weights
    ]
    return _format("Maximize", _sum(profit), rows, [name for _, name in profit])


def build_infeasible():
    """Returns a model without a solution: an even sum cannot be odd."""
    names = [f"x{i}" for i in range(11)]
    return _format("Minimize", _sum((1, name) for name in names), [_sum((2, name) for name in names) + " = 11"], names)


def relax(text):
    """Returns the model without its binaries: a linear program with variables between 0 and 1."""
    head, _, names = text.partition("Binary\n")
    bounds = [f" 0 <= {name} <= 1" for name in names.split() if name != "End"]
    return head + "\n".join(["Bounds", *bounds, "End", ""])


def build_infeasible_lp():
    """Returns a linear program without a solution, which presolve alone does not see."""
    rows = ["x0 + x1 + x2 >= 10", "x0 + 2 x1 <= 6", "2 x0 + x2 <= 5", "x1 + 3 x2 <= 6"]
    return _format("Minimize", "x0 + 3 x1 + 2 x2", rows, []).replace("Binary\n", "")


def build_unbounded_lp():
    """Returns a linear program whose objective has no bound."""
    rows = ["x0 - x1 + x2 <= 4", "x0 - 2 x1 - x2 <= 3"]
    return _format("Maximize", "x0 + x1 + x2", rows, []).replace("Binary\n", "")
