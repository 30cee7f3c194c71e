/** Numbers that a run reports: its indicators, and the validity of its statistics and metrics. */
import Type, { type Static } from 'typebox';
import { stringEnum } from '../schemas/field-schemas.ts';

export const Indicator = Type.Object(
  {
    name: Type.String({
      description:
        'Dotted path: inside the statistics, such as `result.value`, or inside the metrics, such as `total_cost`.',
    }),
    value: Type.Unsafe<number | string | boolean>({
      anyOf: [{ type: 'number' }, { type: 'string' }, { type: 'boolean' }],
      description: 'Value of the indicator.',
    }),
    source: Type.Optional(
      stringEnum(
        ['metrics', 'log'],
        'Where it comes from: `metrics`, a block of the output; `log`, what a solver has printed; or absent for `statistics`.',
      ),
    ),
  },
  { $id: 'Indicator', description: 'One number, text or flag that the run reported.' },
);
export type Indicator = Static<typeof Indicator>;

export const STATISTICS_STATUSES = ['none', 'success', 'error'] as const;

export const RunStatistics = Type.Object(
  {
    status: stringEnum(
      STATISTICS_STATUSES,
      'none: the output has neither statistics nor metrics; error: the statistics are invalid, or the metrics are invalid and there are no statistics.',
    ),
    error: Type.String({ description: 'Why they are invalid; empty otherwise.' }),
    indicators: Type.Array(Indicator, {
      description:
        'Indicators of the statistics and of the metrics. For a name in both, the statistics take precedence. `solver.status` is the status of the last solve in the log, if the output has no indicator of this name.',
    }),
  },
  { $id: 'RunStatistics', description: 'Indicators of the run.' },
);
export type RunStatistics = Static<typeof RunStatistics>;

export const RunMetrics = Type.Object(
  {
    status: stringEnum(['success', 'error'], 'error: the metrics contain no valid indicator.'),
    error: Type.String({ description: 'Why they contain none; empty otherwise.' }),
    indicators: Type.Array(Indicator, {
      description: 'The indicators of `statistics` whose source is `metrics`.',
    }),
  },
  { $id: 'RunMetrics', description: 'Indicators that the run reported as metrics.' },
);
export type RunMetrics = Static<typeof RunMetrics>;
