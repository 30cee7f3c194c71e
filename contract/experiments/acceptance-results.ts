/** The rules of an acceptance test, and the results of a test that has ended. */
import Type, { type Static } from 'typebox';
import { LARGEST_LOSS_MAX, METRIC_CHARS_MAX } from '../limits.ts';
import { mapSchema, nullable, optionalNullable, stringEnum, textSchema } from '../schemas/field-schemas.ts';
import { IndicatorProfile, PROFILED_INDICATORS_MAX } from './experiment-profiles.ts';
import { type Comparison, ensembleIdSchema, METHOD_DESCRIPTION } from './experiment-results.ts';

const METRIC_TYPES = ['direct-comparison', 'absolute-threshold', 'difference-threshold'] as const;
const OPERATORS = ['gt', 'ge', 'lt', 'le', 'eq', 'ne'] as const;
export const METRIC_TOLERANCE_TYPES = ['', 'absolute', 'relative'] as const;

const metricType = stringEnum(
  METRIC_TYPES,
  'Compared values: candidate with control, candidate with the tolerance value, or candidate minus control with the tolerance value.',
);
/** A separate field, because the published client reads no other metric type than direct-comparison. */
const hypothesis = stringEnum(
  ['non-inferiority'],
  'For a direct comparison of mean, shifted_geometric_mean or a percentile: compares the one-sided 95 % bound of the effect with the tolerance. Absent: compares the values of these runs. Beyond the specification.',
);
const operator = stringEnum(OPERATORS, 'Operator of the comparison.');
const toleranceType = stringEnum(
  METRIC_TOLERANCE_TYPES,
  'relative: a share of the magnitude of the control.',
);
const toleranceValue = Type.Number({
  description:
    'For a direct comparison, the largest loss that you accept, 0 or more. For the other metric types, the threshold.',
});

const metric = {
  field: textSchema(`The indicator, such as \`result.value\`, 1 to ${METRIC_CHARS_MAX} characters.`, {
    min: 1,
    max: METRIC_CHARS_MAX,
  }),
  statistic: textSchema(
    `Statistic of the values on one side: min, max, mean, std, count, shifted_geometric_mean, or a percentile, such as p95. For non-inferiority: mean, shifted_geometric_mean or a percentile. 1 to ${METRIC_CHARS_MAX} characters.`,
    { min: 1, max: METRIC_CHARS_MAX },
  ),
  metric_type: metricType,
  hypothesis: optionalNullable(hypothesis),
  accept_same: optionalNullable(
    Type.Boolean({
      description:
        'true: the rule may be met where all inputs tie (verdict same). The default is false: a tie says nothing about other inputs, so the rule is not met. Beyond the specification.',
    }),
  ),
  largest_loss: optionalNullable(
    Type.Number({
      minimum: 0,
      maximum: LARGEST_LOSS_MAX,
      description:
        'Largest change of one input that can occur, above 0, as a share of the control. It gives a bound where fewer than six inputs differ. Only for the mean with a relative tolerance. Beyond the specification.',
    }),
  ),
  params: Type.Object(
    {
      operator,
      tolerance: optionalNullable(
        Type.Object(
          { type: toleranceType, value: toleranceValue },
          {
            additionalProperties: false,
            description: 'The default is no tolerance, which responses show as an empty type and 0.',
          },
        ),
      ),
    },
    { additionalProperties: false, description: 'The comparison.' },
  ),
};

export const AcceptanceMetric = Type.Object(metric, {
  $id: 'AcceptanceMetric',
  additionalProperties: false,
  description: 'A rule that the candidate must meet.',
});
export type AcceptanceMetric = Static<typeof AcceptanceMetric>;

const integerSchema = (description: string) => Type.Integer({ description });
const numberSchema = (description: string) => Type.Number({ description });

const SideStatistics = Type.Object(
  {
    instance_id: Type.String({ description: 'Id of the instance; empty for an ensemble.' }),
    ensemble_id: ensembleIdSchema,
    version_id: Type.String({
      description: 'Version of the runs; empty for `latest`, and when the runs have several versions.',
    }),
    number_of_runs_total: integerSchema('All runs of this side, including those that could not be created.'),
    distribution_summary_statistics: mapSchema(
      Type.Number(),
      'min, max, count, mean, std, shifted_geometric_mean and its shift_parameter. All but shift_parameter are 0 when no run has a number.',
    ),
    distribution_percentiles: mapSchema(Type.Number(), 'p01, p05, p10, p25, p50, p75, p90, p95 and p99.'),
  },
  { $id: 'AcceptanceSideStatistics', description: 'The values of a field on one side.' },
);

/** The batch experiment describes the fields. */
const SideComparison = Type.Unsafe<Comparison>({
  type: 'object',
  additionalProperties: true,
  description:
    'Comparison of the sides, paired by input, with a `verdict`, in the form of `comparisons` of a batch experiment. Rules with gt and ge maximize. Rules with lt and le minimize. Rules with eq and ne have no direction.',
});

const NonInferiority = Type.Object(
  {
    measure: stringEnum(
      ['ratio', 'difference'],
      'ratio: candidate divided by control, for a relative tolerance. difference: candidate minus control, for an absolute one. For the mean: geometric mean of the ratios, or mean of the differences, over the inputs. Else: of the statistics of both sides.',
    ),
    effect: numberSchema('The estimate.'),
    bound: nullable(
      numberSchema(
        'One-sided 95 % bound of the effect, above it for lt and le, below it for gt and ge; null where these inputs give none.',
      ),
    ),
    within_tolerance: Type.Boolean({
      description: 'true if the bound is within the tolerance: the data show it for other inputs too.',
    }),
    inputs: integerSchema(
      'Inputs that both sides solved; a bound decides from 10 on, of p90 from 29, of p95 from 59.',
    ),
  },
  {
    $id: 'NonInferiority',
    description:
      'Effect of the candidate, for rules with lt, le, gt or ge that compare means, shifted geometric means or percentiles of both sides.',
  },
);

export const MetricResult = Type.Object(
  {
    metric: AcceptanceMetric,
    passed: Type.Boolean({ description: 'true if the candidate meets the rule.' }),
    statistics: Type.Object(
      { control: SideStatistics, candidate: SideStatistics },
      { description: 'Both sides, over all their runs that succeeded with a number.' },
    ),
    control_value: nullable(
      numberSchema(
        'The compared statistic of the control, over the inputs that both sides solved; null if there is none. For the statistic count, and for an absolute threshold, it covers all its numbers.',
      ),
    ),
    candidate_value: nullable(numberSchema('The compared statistic of the candidate, over the same inputs.')),
    threshold: nullable(
      numberSchema(
        'Threshold for the candidate, for the difference, or for the bound of the effect; null if it cannot be computed.',
      ),
    ),
    non_inferiority: Type.Optional(NonInferiority),
    warnings: Type.Array(Type.String(), {
      description:
        'Limits of a rule that is met, in sentences: the data do not show the same for other inputs, or runs were canceled or deleted.',
    }),
    tied: Type.Optional(
      Type.Boolean({
        description:
          'true if the inputs that both sides solved tie, and the rule does not accept a tie. Ten such inputs, or more, do not meet it. The decision is then not yes. Else absent.',
      }),
    ),
    reason: Type.String({
      description:
        'Explains the result in sentences. It says over how many inputs the sides are compared, and names an input that only the candidate lost. For failed runs, it names the side, the first error, one such run and the number of runs with that error. It also names a side whose runs did not report the field.',
    }),
    comparison: SideComparison,
  },
  {
    $id: 'AcceptanceMetricResult',
    description: 'Result of one rule.',
  },
);
export type MetricResult = Static<typeof MetricResult>;

export const AcceptanceResults = Type.Object(
  {
    passed: Type.Boolean({ description: 'true if the candidate meets all rules.' }),
    error: Type.Optional(
      Type.String({
        description:
          'Why the test could not be decided. It gives the first error of each side, one run with it, and the number of runs with that error. Absent if the test was decided.',
      }),
    ),
    method: Type.String({ description: METHOD_DESCRIPTION }),
    metric_results: Type.Optional(
      Type.Array(MetricResult, { description: 'Result of each rule, in the order given. Lists omit it.' }),
    ),
    profiles: Type.Optional(
      Type.Array(IndicatorProfile, {
        description: `Benchmark views of the first ${PROFILED_INDICATORS_MAX} fields of the rules, as in the results of a batch experiment. Lists omit them. Absent when no input has ended on both sides. Beyond the specification.`,
      }),
    ),
  },
  { $id: 'AcceptanceResults', description: 'The results of an acceptance test. They never change.' },
);
export type AcceptanceResults = Static<typeof AcceptanceResults>;
