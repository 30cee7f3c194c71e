"""Runs real solvers on small models. Writes each log, and the final numbers of the solver's own API beside it.

Install the solvers with `pip install highspy ortools gurobipy pyscipopt pulp swiglpk cplex mip xpress coptpy pyvrp`, then run
`python generate-logs.py` (all solvers), `python generate-logs.py highs scip`, or `python generate-logs.py highs:lp`.
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
    "lp": (models.relax(models.build_knapsack(items=40, dimensions=5)), 60),
    "lp-infeasible": (models.build_infeasible_lp(), 60),
    "lp-unbounded": (models.build_unbounded_lp(), 60),
}
ROUTES = {"routes": 12}


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
CBC3 = """
import mip, json, sys
m = mip.Model(solver_name=mip.CBC)
m.read({model!r})
m.verbose = 1
status = m.optimize(max_seconds={limit})
sys.stdout.flush()
found = m.num_solutions > 0
json.dump(dict(status=status.name, objective=m.objective_value if found else None,
    bound=m.objective_bound if found else None), open({result!r}, "w"))
"""
XPRESS = """
import xpress as xp, json
xp.init()
m = xp.problem()
m.readProb({model!r}, "l")
m.setControl("timelimit", {limit})
m.setControl("threads", 1)
m.optimize()
found = m.attributes.solstatus in (xp.SolStatus.OPTIMAL, xp.SolStatus.FEASIBLE)
mip = m.attributes.originalmipents > 0
json.dump(dict(status=m.attributes.solvestatus.name + " " + m.attributes.solstatus.name,
    objective=m.attributes.objval if found else None,
    bound=(m.attributes.bestbound if mip else m.attributes.objval) if found else None,
    **(dict(nodes=m.attributes.nodes) if mip else dict())), open({result!r}, "w"))
"""
COPT = """
import coptpy, json
m = coptpy.Envr().createModel()
m.read({model!r})
m.setParam("TimeLimit", {limit})
m.setParam("Threads", 1)
m.solve()
found = m.hasmipsol or m.haslpsol and m.status == coptpy.COPT.OPTIMAL
objective = (m.objval if m.ismip else m.lpobjval) if found else None
json.dump(dict(status=m.status, objective=objective, bound=(m.bestbnd if m.ismip else objective) if found else None,
    **(dict(nodes=m.nodecnt) if m.ismip else dict())), open({result!r}, "w"))
"""
PYVRP = """
import json, random
from pyvrp import Model
from pyvrp.stop import MaxRuntime
random = random.Random(7)
m = Model()
points = [(random.randint(0, 1000), random.randint(0, 1000)) for _ in range(101)]
depot = m.add_depot(m.add_location(*points[0])) if hasattr(m, "add_location") else m.add_depot(*points[0])
m.add_vehicle_type(12, capacity=100)
for point in points[1:]:
    amount = random.randint(5, 10)
    if hasattr(m, "add_location"): m.add_client(m.add_location(*point), delivery=amount)
    else: m.add_client(*point, delivery=amount)
places = m.locations
for a in places:
    for b in places:
        m.add_edge(a, b, distance=round(((a.x - b.x) ** 2 + (a.y - b.y) ** 2) ** 0.5))
r = m.solve(stop=MaxRuntime({limit}), seed=3)
json.dump(dict(status="feasible" if r.is_feasible() else "infeasible", objective=r.cost(), bound=None), open({result!r}, "w"))
"""
ROUTING = """
import json, random
from ortools.constraint_solver import pywrapcp, routing_enums_pb2
random = random.Random(7)
points = [(random.randint(0, 1000), random.randint(0, 1000)) for _ in range(40)]
manager = pywrapcp.RoutingIndexManager(40, 4, 0)
routing = pywrapcp.RoutingModel(manager)
def measure(a, b):
    (ax, ay), (bx, by) = points[manager.IndexToNode(a)], points[manager.IndexToNode(b)]
    return abs(ax - bx) + abs(ay - by)
index = routing.RegisterTransitCallback(measure)
routing.SetArcCostEvaluatorOfAllVehicles(index)
p = pywrapcp.DefaultRoutingSearchParameters()
p.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
p.time_limit.seconds = {limit}
p.log_search = True
s = routing.SolveWithParameters(p)
json.dump(dict(status=routing.status(), objective=s.ObjectiveValue() if s else None, bound=None), open({result!r}, "w"))
"""
SCRIPTS = {
    "highs": ("highspy", HIGHS),
    "gurobi": ("gurobipy", GUROBI),
    "scip": ("pyscipopt", SCIP),
    "glpk": ("swiglpk", GLPK),
    "cplex": ("cplex", CPLEX),
    "cp-sat": ("ortools", CP_SAT),
    "cbc3": ("mip", CBC3),
    "xpress": ("xpress", XPRESS),
    "copt": ("coptpy", COPT),
}
# Solvers of routes have a model in their script, and no file.
ROUTERS = {"pyvrp": ("pyvrp", PYVRP), "routing": ("ortools", ROUTING)}


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
    text, limit = CASES[case] if case in CASES else ("", ROUTES[case])
    with tempfile.TemporaryDirectory() as folder:
        model, result = os.path.join(folder, "model.lp"), os.path.join(folder, "result.json")
        Path(model).write_text(text)
        if solver == "cbc":
            package, log = "pulp", run_cbc(model, result, limit)
        else:
            package, script = {**SCRIPTS, **ROUTERS}[solver]
            log = run_captured(script.format(model=model, result=result, limit=limit))
        numbers = {key: finite(value) for key, value in json.loads(Path(result).read_text()).items()}
        log = log.replace(folder, "folder").replace(sys.prefix, "environment")
    if len(log) > LOG_LIMIT_BYTES:
        raise SystemExit(f"The log of {solver} on {case} has {len(log)} bytes: at most {LOG_LIMIT_BYTES}.")
    expected = {"solver": solver, "package": f"{package} {importlib.metadata.version(package)}", "case": case, **numbers}
    (LOGS / f"{solver}-{case}.out").write_text(log)
    (LOGS / f"{solver}-{case}.json").write_text(json.dumps(expected, indent=2) + "\n")
    print(solver, case, len(log), expected)


if __name__ == "__main__":
    LOGS.mkdir(exist_ok=True)
    for chosen in sys.argv[1:] or [*SCRIPTS, "cbc", *ROUTERS]:
        solver, _, wanted = chosen.partition(":")
        for case in [wanted] if wanted else ROUTES if solver in ROUTERS else CASES:
            write_log(solver, case)
