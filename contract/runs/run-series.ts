/** Series of numbers over the time of a run: from its log, from its statistics, and from its processes. */
import Type, { type Static } from 'typebox';
import { SERIES_POINTS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { countSchema, stringEnum } from '../schemas/field-schemas.ts';
import { RunParams } from './runs.ts';

const SERIES_SOURCES = ['log', 'resources', 'statistics'] as const;
const SOLVE_PHASES = ['presolve', 'root', 'search', 'finished'] as const;

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
    points: Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), {
      description:
        'Pairs `[x, y]` in the order of x: the seconds since the start of the app, and the value. For statistics, x is that of the app.',
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

const RunSeriesList = Type.Object(
  {
    series: Type.Array(RunSeries, { description: 'The series, by source and name.' }),
    phases: Type.Array(SolverPhase, { description: 'The phases of the solvers, in the order of time.' }),
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
        points: [
          [0.12, 1104.2],
          [0.4, 1040.6],
        ],
      },
    ],
    phases: [{ x: 0.1, phase: 'search', solver: 'HiGHS', solve: 0 }],
  }),
});
