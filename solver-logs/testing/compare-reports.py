"""Compares the reader with the final report that each solver prints into its own log, and prints a table.

Run `python compare-reports.py NODE FOLDER ...`. NODE runs TypeScript; each FOLDER holds public logs (`*.out`, `*.log` and
`*.txt`), such as the test data of ipet, orloge, gurobi-logtools and the CP-SAT Log Analyzer. Numbers must agree to the
digits of the report. A log without a report counts as unchecked.
"""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).parent
INFINITE = 1e20
# What names the solver, then the expressions of its report, whose last match counts.
REPORTS = {
    "Xpress": (
        r"FICO Xpress",
        {
            "objective": r"^ ?(?:Best integer solution found is|Final MIP objective\s+:)\s+(\S+)",
            "bound": r"^ ?(?:Best bound is|Final MIP bound\s+:)\s+(\S+)",
            "nodes": r"Search \w+ \*\*\*\s+Time:\s+\d+ Nodes:\s+(\d+)",
            "status": r"(Search completed|MAXTIME limit|is integer infeasible)",
        },
    ),
    "SCIP": (
        r"^SCIP Status|^SCIP version",
        {
            "objective": r"^Primal Bound\s+:\s+(\S+)",
            "bound": r"^Dual Bound\s+:\s+(\S+)",
            "nodes": r"^Solving Nodes\s+:\s+(?:\d+ \(total of )?(\d+)",
            "status": r"^SCIP Status\s+:.*\[(.*)\]",
        },
    ),
    "CPLEX": (
        r"CPLEX",
        {
            "objective": r"Objective =\s+(\S+)$",
            "nodes": r"^Solution time =.*Nodes = (\d+)",
            "status": r"^MIP - (.*?)[.:,(]",
        },
    ),
    "CBC": (
        r"Welcome to the CBC",
        {
            "objective": r"^Objective value:\s+(\S+)",
            "bound": r"^(?:Lower|Upper) bound:\s+(\S+)",
            "nodes": r"^Enumerated nodes:\s+(\d+)",
            "status": r"^Result - (.*)",
        },
    ),
    "CP-SAT": (
        r"CpSolverResponse|Starting CP-SAT|^#Bound",
        {
            "objective": r"^objective: (\S+)",
            "bound": r"^best_bound: (\S+)",
            "status": r"^status: (\S+)",
        },
    ),
    "Gurobi": (
        r"Gurobi Optimizer",
        {
            "objective": r"^(?:Best|Optimal) objective\s+([^\s,]+)",
            "bound": r"best bound ([^\s,]+)",
            "nodes": r"^Explored (\d+) nodes",
            "status": r"^(Time limit reached|Optimal solution found|Optimal objective|Model is infeasible)",
        },
    ),
}
STATUSES = (
    (r"infeasible", {"infeasible"}),
    (r"time|MAXTIME", {"time_limit"}),
    (r"optimal|completed", {"optimal"}),
    (r"FEASIBLE|UNKNOWN", {"feasible", "time_limit", "interrupted"}),
)


def read_last(pattern, text):
    matches = re.findall(pattern, text, re.MULTILINE)
    return matches[-1] if matches else None


def parse(number):
    try:
        value = float(number)
    except (TypeError, ValueError):
        return None
    return value if abs(value) < INFINITE else None


def count_digits(number):
    return max(1, len(re.sub(r"[eE].*|[^0-9]", "", number).lstrip("0")))


def differ(name, expected, solve):
    found = solve[name]
    if name == "status":
        allowed = next((words for pattern, words in STATUSES if re.search(pattern, expected, re.I)), None)
        return allowed is not None and found not in allowed
    value = parse(expected)
    if value is None or solve["status"] == "infeasible":
        return False
    return found is None or abs(found - value) > 10 ** (1 - count_digits(expected)) * max(1e-9, abs(value))


def check(path, solves):
    """Returns the solver, and the fields that differ from its report; None instead of fields without a report."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    solver = next((name for name, (mark, _) in REPORTS.items() if re.search(mark, text, re.M)), "other")
    if not solves:
        return solver, "nothing", []
    if solver == "other":
        return solves[-1]["solver"], "unchecked", []
    report = {name: read_last(pattern, text) for name, pattern in REPORTS[solver][1].items()}
    own = [solve for solve in solves if solve["solver"] == solver] or solves
    searches = [solve for solve in own if solve["nodes"] is not None] or own
    wrong = [
        (name, expected, searches[-1][name])
        for name, expected in report.items()
        if expected is not None and differ(name, expected, searches[-1])
    ]
    if all(expected is None for expected in report.values()):
        return solver, "unchecked", []
    return solver, "wrong" if wrong else "right", wrong


def main():
    node, *folders = sys.argv[1:]
    logs = sorted(
        str(log) for folder in folders for log in Path(folder).rglob("*") if log.suffix in (".out", ".log", ".txt") and log.is_file()
    )
    printed = subprocess.run(
        [node, HERE / "print-solves.ts"], input="\n".join(logs), capture_output=True, text=True, check=True
    ).stdout
    table = defaultdict(Counter)
    for line in printed.splitlines():
        entry = json.loads(line)
        solver, outcome, wrong = check(entry["path"], entry["solves"])
        table[solver][outcome] += 1
        if outcome in ("wrong", "nothing"):
            print(outcome, entry["path"], *wrong)
    for solver, outcomes in sorted(table.items()):
        print(f"{solver:<10}", ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))


main()
