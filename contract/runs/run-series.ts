/** Series of numbers over the time of a run: from its log, from its statistics, and from its processes. */
import Type, { type Static } from 'typebox';
import { SERIES_MAX, SERIES_NAME_CHARS_MAX, SERIES_POINTS_MAX, SERIES_SOLVES_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { countSchema, nullable, stringEnum } from '../schemas/field-schemas.ts';
import { RunParams } from './runs.ts';

const SERIES_SOURCES = ['log', 'resources', 'statistics'] as const;
const SOLVE_PHASES = ['presolve', 'root', 'search', 'finished'] as const;
const SOLVE_STATUSES = [
  'optimal',
  'feasible',
  'infeasible',
  'unbounded',
  'infeasible_or_unbounded',
  'time_limit',
  'interrupted',
  'memory_limit',
  'error',
] as const;

/** A number of a log that may not state it. */
const knownNumber = (description: string) => nullable(Type.Number({ description }));
/** A count of a log that may not state it. */
const knownCount = (description: string) => nullable(countSchema(description));

export const RunSeries = Type.Object(
  {
    name: Type.String({
      description:
        'Name of the series. Logs of solvers have `objective`, `bound`, `gap` (a ratio) and `nodes`; resources have `cpu` (cores), `memory` and `written` (bytes).',
    }),
    source: stringEnum(
      SERIES_SOURCES,
      'log: lines of the log; resources: the processes of the app; statistics: `series_data` of the statistics.',
    ),
    solve: nullable(
      countSchema('Number of the solve whose log has these numbers, from 0; null for numbers of no solver.'),
    ),
    points: Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), {
      description:
        'Pairs `[x, y]` in the order of x: the seconds since the start of the app, and the value. For a solver, x follows its own clock, from the start of its solve; a line without a time has that of its arrival. For statistics, x is that of the app.',
    }),
  },
  { $id: 'RunSeries', description: 'One series of a run.' },
);
export type RunSeries = Static<typeof RunSeries>;

export const SolverPhase = Type.Object(
  {
    x: Type.Number({ description: 'Seconds since the start of the app.' }),
    phase: stringEnum(SOLVE_PHASES, 'Phase of the solver from this time on.'),
    solver: Type.String({ description: 'Name of the solver.' }),
    solve: countSchema('Number of the solve in this run, from 0.'),
  },
  { $id: 'SolverPhase', description: 'A phase of a solver, as its log shows it.' },
);
export type SolverPhase = Static<typeof SolverPhase>;

export const RunSolve = Type.Object(
  {
    solve: countSchema('Number of the solve in this run, from 0.'),
    x: Type.Number({ minimum: 0, description: 'Its start, in seconds since the start of the app.' }),
    solver: Type.String({ maxLength: SERIES_NAME_CHARS_MAX, description: 'Name of the solver.' }),
    version: nullable(
      Type.String({ maxLength: SERIES_NAME_CHARS_MAX, description: 'Version of the solver.' }),
    ),
    status: nullable(
      stringEnum(
        SOLVE_STATUSES,
        'How the solve ended. The value `feasible` stands for a solution by a heuristic, or at a limit without a value here. The value `interrupted` stands for such a limit without a solution, or a signal.',
      ),
    ),
    objective: knownNumber('Objective of the best solution; null for a model without one.'),
    bound: knownNumber('Best proven bound of the objective.'),
    gap: knownNumber('Relative gap as a ratio.'),
    nodes: knownNumber('Explored nodes.'),
    seconds: knownNumber("Seconds of the solver's own clock at its last line."),
    threads: knownCount('Threads that the solver may use.'),
    seed: knownNumber('Seed of its random numbers.'),
  },
  { $id: 'RunSolve', description: 'A solve, as its log shows it; null where the log does not say.' },
);
export type RunSolve = Static<typeof RunSolve>;

const RunSeriesList = Type.Object(
  {
    series: Type.Array(RunSeries, {
      description: `The series, by source, solve and name. Of more than ${SERIES_MAX}, those of the earliest solves are left out.`,
    }),
    phases: Type.Array(SolverPhase, { description: 'The phases of the solvers, in the order of time.' }),
    solves: Type.Array(RunSolve, {
      description: `The first ${SERIES_SOLVES_MAX} solves in the log, in order.`,
    }),
  },
  { $id: 'RunSeriesList', description: 'All series of a run.' },
);

export const getRunSeries = defineOperation({
  id: 'getRunSeries',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/series',
  tag: 'runs',
  summary: 'Get the series of a run',
  description: `Returns numbers over the time of a run: lines \`{"series": {"objective": 12.3}}\` of its log, the progress in the logs of known solvers, and \`series_data\` of its statistics. A series has at most ${SERIES_POINTS_MAX} points: of more, the first, last, smallest and largest of each interval stay.`,
  right: 'read',
  readsContent: true,
  params: RunParams,
  responses: respond(200, 'The series so far.', RunSeriesList, {
    series: [
      {
        name: 'objective',
        source: 'log',
        solve: 0,
        points: [
          [0.12, 1104.2],
          [0.4, 1040.6],
        ],
      },
    ],
    phases: [{ x: 0.1, phase: 'search', solver: 'HiGHS', solve: 0 }],
    solves: [
      {
        ...{ solve: 0, x: 0.08, solver: 'HiGHS', version: '1.16.0', status: 'time_limit' },
        ...{
          objective: 1040.6,
          bound: 1012.3,
          gap: 0.0272,
          nodes: 812,
          seconds: 10.01,
          threads: null,
          seed: null,
        },
      },
    ],
  }),
});
