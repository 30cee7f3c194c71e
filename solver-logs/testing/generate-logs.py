"""Runs real solvers on small models. Writes each log, and the final numbers of the solver's own API beside it.

Install the solvers with `pip install highspy ortools gurobipy pyscipopt pulp swiglpk cplex`, then run
`python generate-logs.py` (all solvers) or `python generate-logs.py highs scip`.
"""

import importlib.metadata
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import models

LOGS = Path(__file__).parent / "logs"
LOG_LIMIT_BYTES = 60_000
CASES = {
    # Case: (text of the model, time limit in seconds)
    "minimise": (models.build_location(), 60),
    "maximise": (models.build_knapsack(items=40, dimensions=5), 60),
    "time-limit": (models.build_knapsack(items=200, dimensions=30, seed=11), 4),
    "infeasible": (models.build_infeasible(), 60),
}


def run_captured(script):
    """Runs Python code in a process of its own, because solvers write to the C file descriptor."""
    return subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    ).stdout.decode()


HIGHS = """
import highspy, json
h = highspy.Highs()
h.setOptionValue("threads", 1)
h.setOptionValue("time_limit", float({limit}))
h.readModel({model!r})
h.run()
i = h.getInfo()
json.dump(dict(status=h.modelStatusToString(h.getModelStatus()), objective=i.objective_function_value,
    bound=i.mip_dual_bound, nodes=i.mip_node_count), open({result!r}, "w"))
"""
GUROBI = """
import gurobipy, json
m = gurobipy.read({model!r})
m.Params.TimeLimit = {limit}
m.Params.Threads = 1
m.optimize()
found = m.SolCount > 0
json.dump(dict(status=m.Status, objective=m.ObjVal if found else None, bound=m.ObjBound if found else None,
    nodes=m.NodeCount), open({result!r}, "w"))
"""
SCIP = """
import pyscipopt, json
m = pyscipopt.Model()
m.readProblem({model!r})
m.setParam("limits/time", {limit})
m.optimize()
found = m.getNSols() > 0
json.dump(dict(status=m.getStatus(), objective=m.getObjVal() if found else None,
    bound=m.getDualbound() if found else None, nodes=m.getNTotalNodes()), open({result!r}, "w"))
"""
GLPK = """
import swiglpk as g, json
m = g.glp_create_prob()
g.glp_read_lp(m, None, {model!r})
p = g.glp_iocp()
g.glp_init_iocp(p)
p.presolve = g.GLP_ON
p.tm_lim = {limit} * 1000
p.out_frq = 500
g.glp_intopt(m, p)
status = g.glp_mip_status(m)
found = status in (g.GLP_OPT, g.GLP_FEAS)
objective = g.glp_mip_obj_val(m) if found else None
# GLPK has no call for the bound after the search: it equals the objective at the optimum.
json.dump(dict(status=status, objective=objective, bound=objective if status == g.GLP_OPT else None), open({result!r}, "w"))
"""
CPLEX = """
import cplex, json, sys
m = cplex.Cplex({model!r})
m.parameters.timelimit.set({limit})
m.parameters.threads.set(1)
for channel in (m.set_log_stream, m.set_results_stream, m.set_warning_stream):
    channel(sys.stdout)
m.solve()
s = m.solution
# Of the bound and the nodes at the end, CPLEX prints nothing unless its interactive program solves the model.
json.dump(dict(status=s.get_status_string(), objective=s.get_objective_value() if s.is_primal_feasible() else None,
    bound=None), open({result!r}, "w"))
"""
CP_SAT = """
import json
from ortools.sat.python import cp_model
from ortools.linear_solver.python import model_builder
import highspy
h = highspy.Highs()
h.setOptionValue("output_flag", False)
h.readModel({model!r})
lp = h.getLp()
m = cp_model.CpModel()
x = [m.new_bool_var(name) for name in lp.col_names_]
a = lp.a_matrix_
rows = [[] for _ in range(lp.num_row_)]
for c in range(lp.num_col_):
    for k in range(a.start_[c], a.start_[c + 1]):
        rows[a.index_[k]].append(int(a.value_[k]) * x[c])
for r, terms in enumerate(rows):
    low, high = lp.row_lower_[r], lp.row_upper_[r]
    if low > -1e20: m.add(sum(terms) >= int(low))
    if high < 1e20: m.add(sum(terms) <= int(high))
total = sum(int(c) * v for c, v in zip(lp.col_cost_, x))
if lp.sense_ == highspy.ObjSense.kMaximize: m.maximize(total)
else: m.minimize(total)
s = cp_model.CpSolver()
s.parameters.log_search_progress = True
s.parameters.num_workers = 8
s.parameters.max_time_in_seconds = {limit}
status = s.solve(m)
found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
json.dump(dict(status=s.status_name(status), objective=s.objective_value if found else None,
    bound=s.best_objective_bound if found else None), open({result!r}, "w"))
"""
SCRIPTS = {
    "highs": ("highspy", HIGHS),
    "gurobi": ("gurobipy", GUROBI),
    "scip": ("pyscipopt", SCIP),
    "glpk": ("swiglpk", GLPK),
    "cplex": ("cplex", CPLEX),
    "cp-sat": ("ortools", CP_SAT),
}


def run_cbc(model, result, limit):
    """Runs the CBC program of pulp. Its solution file begins with the status and the objective in the sense of the model."""
    import pulp

    solution = result + ".sol"
    command = [pulp.PULP_CBC_CMD().path, model, "-sec", str(limit), "-solve", "-solution", solution]
    log = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True).stdout.decode()
    first = Path(solution).read_text().splitlines()[0]
    status, _, value = first.rpartition(" - objective value ")
    optimal = status == "Optimal"
    objective = None if "nfeasible" in first else float(value)
    Path(result).write_text(json.dumps({"status": status, "objective": objective, "bound": objective if optimal else None}))
    return log.replace(command[0], "cbc")


def finite(value):
    return None if isinstance(value, float) and (not math.isfinite(value) or abs(value) >= 1e20) else value


def write_log(solver, case):
    text, limit = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        model, result = os.path.join(folder, "model.lp"), os.path.join(folder, "result.json")
        Path(model).write_text(text)
        if solver == "cbc":
            package, log = "pulp", run_cbc(model, result, limit)
        else:
            package, script = SCRIPTS[solver]
            log = run_captured(script.format(model=model, result=result, limit=limit))
        numbers = {key: finite(value) for key, value in json.loads(Path(result).read_text()).items()}
        log = log.replace(folder, "folder")
    if len(log) > LOG_LIMIT_BYTES:
        raise SystemExit(f"The log of {solver} on {case} has {len(log)} bytes: at most {LOG_LIMIT_BYTES}.")
    expected = {"solver": solver, "package": f"{package} {importlib.metadata.version(package)}", "case": case, **numbers}
    (LOGS / f"{solver}-{case}.out").write_text(log)
    (LOGS / f"{solver}-{case}.json").write_text(json.dumps(expected, indent=2) + "\n")
    print(solver, case, len(log), expected)


if __name__ == "__main__":
    LOGS.mkdir(exist_ok=True)
    for chosen in sys.argv[1:] or [*SCRIPTS, "cbc"]:
        for each in CASES:
            write_log(chosen, each)
