/** All solvers whose logs are read. */
import { CBC_3_FORMAT, CBC_FORMAT } from './cbc.ts';
import { COPT_FORMAT } from './copt.ts';
import { CP_SAT_FORMAT } from './cp-sat.ts';
import { CPLEX_FORMAT } from './cplex.ts';
import { CUOPT_FORMAT } from './cuopt.ts';
import type { LogFormat } from './format.ts';
import { GLPK_FORMAT } from './glpk.ts';
import { GUROBI_FORMAT } from './gurobi.ts';
import { HIGHS_FORMAT } from './highs.ts';
import { MOSEK_FORMAT } from './mosek.ts';
import { HEXALY_FORMAT, OR_TOOLS_ROUTING_FORMAT, PYVRP_FORMAT, TIMEFOLD_FORMAT } from './routing.ts';
import { SCIP_FORMAT } from './scip.ts';
import { XPRESS_FORMAT } from './xpress.ts';

/** In the order in which a line is tried. */
export const LOG_FORMATS: readonly LogFormat[] = [
  HIGHS_FORMAT,
  CP_SAT_FORMAT,
  GUROBI_FORMAT,
  CBC_FORMAT,
  CBC_3_FORMAT,
  SCIP_FORMAT,
  CPLEX_FORMAT,
  GLPK_FORMAT,
  XPRESS_FORMAT,
  COPT_FORMAT,
  CUOPT_FORMAT,
  MOSEK_FORMAT,
  OR_TOOLS_ROUTING_FORMAT,
  PYVRP_FORMAT,
  TIMEFOLD_FORMAT,
  HEXALY_FORMAT,
];
