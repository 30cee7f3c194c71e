/** Numbers that a run reports: its indicators, and whether its statistics and metrics conform. */
import Type, { type Static } from 'typebox';
import { stringEnum } from '../schemas/field-schemas.ts';

const Indicator = Type.Object(
  {
    name: Type.String({
      description:
        'Dotted path: inside the statistics, such as `result.value`, or inside the metrics, such as `total_cost`.',
    }),
    value: Type.Unsafe<number | string | boolean>({
      anyOf: [{ type: 'number' }, { type: 'string' }, { type: 'boolean' }],
      description: 'Its value.',
    }),
    source: Type.Optional(
      stringEnum(
        ['metrics'],
        'The block of the output that has it when that is `metrics`; absent for `statistics`.',
      ),
    ),
  },
  { $id: 'Indicator', description: 'One number, text or flag the run reported.' },
);
export type Indicator = Static<typeof Indicator>;

export const STATISTICS_STATUSES = ['none', 'success', 'error'] as const;

export const RunStatistics = Type.Object(
  {
    status: stringEnum(
      STATISTICS_STATUSES,
      'none: the output has neither statistics nor metrics; error: the statistics do not conform, or there are none and the metrics do not.',
    ),
    error: Type.String({ description: 'Why they do not conform, else empty.' }),
    indicators: Type.Array(Indicator, {
      description:
        'Indicators of the statistics and of the metrics; where both have one of the same name, that of the statistics.',
    }),
  },
  { $id: 'RunStatistics', description: 'Indicators of the run.' },
);
export type RunStatistics = Static<typeof RunStatistics>;

export const RunMetrics = Type.Object(
  {
    status: stringEnum(['success', 'error'], 'error: the metrics make no indicators.'),
    error: Type.String({ description: 'Why they make none, else empty.' }),
    indicators: Type.Array(Indicator, {
      description: 'The indicators of `statistics` whose source is `metrics`.',
    }),
  },
  { $id: 'RunMetrics', description: 'Indicators that the run reported as metrics.' },
);
export type RunMetrics = Static<typeof RunMetrics>;
