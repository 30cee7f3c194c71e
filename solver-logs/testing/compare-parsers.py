"""Compares the reader with published parsers of solver logs, field by field, and prints a table.

Install them with `pip install gurobi-logtools orloge cpsat-logutils`, then run
`python compare-parsers.py NODE [FOLDER ...]`. NODE runs TypeScript; FOLDER holds more logs (`*.out`) whose names begin
with the solver, such as the test data of orloge.
"""

import json
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import gurobi_logtools
import orloge
from cpsat_logutils import LogParser
from cpsat_logutils.blocks import ResponseBlock, SearchProgressBlock

HERE = Path(__file__).parent
ORLOGE_NAMES = {"cbc": "CBC", "gurobi": "GUROBI", "cplex": "CPLEX"}
FIELDS = ("objective", "bound", "nodes")


def read_points(node, log):
    output = subprocess.run([node, HERE / "print-points.ts", log], capture_output=True, text=True, check=True).stdout
    points = [json.loads(line) for line in output.splitlines()]
    # CPLEX solves a linear model again after the search, with a log of its own.
    searches = [point["solve"] for point in points if "nodes" in point["series"]] or [0]
    return [point for point in points if point["solve"] == searches[-1]]


def take_last(points):
    last = {}
    for point in points:
        last.update(point["series"])
    return last


def read_orloge(log, solver):
    info = orloge.get_info_solver(str(log), ORLOGE_NAMES[solver])
    return {"objective": info["best_solution"], "bound": info["best_bound"], "nodes": info["nodes"]}


def read_gurobi_logtools(log):
    results = gurobi_logtools.parse(str(log))
    summary = results.summary().iloc[0]
    names = {"objective": "ObjVal", "bound": "ObjBound", "nodes": "NodeCount"}
    return {field: summary.get(name) for field, name in names.items()}


def count_gurobi_rows(log, points):
    """Compares the rows of the table of nodes: incumbent, bound and nodes of each."""
    table = gurobi_logtools.parse(str(log)).progress("nodelog").to_dict("records")
    theirs = [
        tuple(clean(row.get(name)) for name in ("Incumbent", "BestBd", "CurrentNode"))
        for row in table
        # The parser adds a row with the numbers of the summary, which has neither a depth nor a mark.
        if clean(row.get("BestBd")) is not None
        and (clean(row.get("Depth")) is not None or row.get("NewSolution") in ("H", "*"))
    ]
    ours = [tuple(point["series"].get(field) for field in FIELDS) for point in points]
    return sum(row in set(ours) for row in theirs), len(theirs)


def read_cpsat_logutils(log):
    response = LogParser(log.read_text()).get_block_of_type(ResponseBlock).to_dict()
    return {"objective": clean(response["objective"]), "bound": clean(response["best_bound"])}


def count_cpsat_rows(log, points):
    events = LogParser(log.read_text()).get_block_of_type(SearchProgressBlock).get_events()
    theirs = [(event.obj, event.bound) for event in events if getattr(event, "bound", None) is not None]
    # Before a solution the parser takes the low end as the bound in both senses: nothing to compare.
    theirs = [(objective, bound) for objective, bound in theirs if clean(objective) is not None]
    # A line with a new bound repeats the best objective, which is news only in the line of its solution.
    ours, best = set(), None
    for point in points:
        best = point["series"].get("objective", best)
        ours.add((best, point["series"].get("bound")))
    return sum(row in ours for row in theirs), len(theirs)


def clean(value):
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e20 else None


def main(node, folders):
    agreed, differences = Counter(), []

    def compare(parser, log, read):
        try:
            theirs = read()
        except Exception as error:
            differences.append(f"{parser} fails on {log.name}: {error!r}")
            return
        points = read_points(node, log)
        ours = take_last(points)
        for field in theirs:
            value, own = clean(theirs[field]), ours.get(field)
            if value is None:
                continue
            same = own is not None and abs(own - value) <= 1e-6 * max(1, abs(value))
            agreed[parser, field, same] += 1
            if not same:
                differences.append(f"{parser} {log.name} {field}: {value}, the reader {own}")

    for log in sorted(log for folder in [HERE / "logs", *map(Path, folders)] for log in folder.glob("*.out")):
        solver = next((name for name in ("cbc", "gurobi", "cplex", "cp-sat") if log.name.startswith(name)), None)
        if solver in ORLOGE_NAMES:
            compare("orloge", log, lambda: read_orloge(log, solver))
        counters = {"gurobi": ("gurobi-logtools", read_gurobi_logtools, count_gurobi_rows)}
        counters["cp-sat"] = ("cpsat-logutils", read_cpsat_logutils, count_cpsat_rows)
        if solver in counters:
            parser, read, count_rows = counters[solver]
            compare(parser, log, lambda: read(log))
            try:
                same, total = count_rows(log, read_points(node, log))
            except Exception as error:
                differences.append(f"{parser} has no rows of {log.name}: {error!r}")
            else:
                agreed[parser, "row", True] += same
                agreed[parser, "row", False] += total - same
    for parser, field in sorted({key[:2] for key in agreed}):
        same, other = agreed[parser, field, True], agreed[parser, field, False]
        print(f"| {parser} | {field} | {same} of {same + other} |")
    print(*differences, sep="\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], sys.argv[2:])
