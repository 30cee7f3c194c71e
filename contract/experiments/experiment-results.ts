/**
 * Statistics that experiments return: distributions of indicators by groups of runs, and comparisons with a verdict.
 * The statistics modules of the server document the formulas; this file describes the results to a reader.
 */
import Type, { type Static } from 'typebox';
import { METRIC_CHARS_MAX, METRICS_MAX } from '../limits.ts';
import { mapSchema, nullable, stringEnum } from '../schemas/field-schemas.ts';

const numberSchema = (description: string) => Type.Number({ description });
const integerSchema = (description: string) => Type.Integer({ description });
const nullableNumberSchema = (description: string) => nullable(numberSchema(description));

const PERCENTS = ['01', '05', '10', '25', '50', '75', '90', '95', '99'] as const;

/** Both spellings: the published clients read the lower case, the specification names the upper case. */
const Percentiles = Type.Object(
  Object.fromEntries(
    PERCENTS.flatMap((percent) => [
      [`p${percent}`, numberSchema(`${Number(percent)} % of the values are at most this.`)],
      [`P${percent}`, numberSchema(`The same as p${percent}.`)],
    ]),
  ) as Record<`${'p' | 'P'}${(typeof PERCENTS)[number]}`, ReturnType<typeof numberSchema>>,
  { $id: 'Percentiles', description: 'Percentiles, interpolated linearly between values (type 7).' },
);

const Distribution = Type.Object(
  {
    min: numberSchema('The smallest value.'),
    max: numberSchema('The largest value.'),
    count: integerSchema('Number of runs with a number.'),
    mean: numberSchema('Mean of the values.'),
    std: numberSchema('Standard deviation (n - 1); 0 for one value.'),
    shifted_geometric_mean: Type.Object(
      {
        value: numberSchema('exp(mean of ln(x + shift)) - shift.'),
        shift: numberSchema('10, or more when a value is at most -10.'),
      },
      { description: 'The shifted geometric mean and its shift.' },
    ),
    percentiles: Percentiles,
  },
  { $id: 'Distribution', description: 'Distribution of one indicator.' },
);

const RunCounts = Type.Object(
  {
    total: integerSchema('All runs.'),
    succeeded: integerSchema('Succeeded runs; only they contribute numbers.'),
    failed: integerSchema('Failed runs, including those that could not be created.'),
    canceled: integerSchema('Canceled runs.'),
    pending: integerSchema('Runs that have not ended.'),
    without_statistics: integerSchema('Succeeded runs without any indicator.'),
  },
  { $id: 'RunCounts', description: 'Number of runs by status.' },
);

const GROUP_KEYS = ['inputID', 'instanceID', 'versionID', 'optionSetID', 'scenarioID'] as const;

export const GroupedSummary = Type.Object(
  {
    group_keys: Type.Array(stringEnum(GROUP_KEYS, 'A grouping key.'), {
      description: 'The grouping keys.',
    }),
    group_values: Type.Array(Type.String(), { description: 'The value of each key; empty without a value.' }),
    indicator_keys: Type.Array(Type.String(), {
      description: 'Indicators with at least one number in the group.',
    }),
    indicator_distributions: mapSchema(Distribution, 'The distribution of each indicator.'),
    runs: RunCounts,
    indicator_counts: mapSchema(
      Type.Object(
        {
          usable: integerSchema('Runs whose value is a number.'),
          unusable: integerSchema('Runs with another value: "nan", "+inf", "-inf", a text or a flag.'),
          missing: integerSchema('Runs without a value.'),
        },
        { description: 'Counts for one indicator.' },
      ),
      'Counts of the succeeded runs, by indicator.',
    ),
  },
  { $id: 'GroupedSummary', description: 'The distributions of one group of runs.' },
);
export type GroupedSummary = Static<typeof GroupedSummary>;

const VERDICTS = ['better', 'worse', 'equivalent', 'undecided'] as const;
const OBJECTIVES = ['minimize', 'maximize'] as const;
export type Objective = (typeof OBJECTIVES)[number];

/** The direction of improvement of each indicator, as the experiment defines it. */
export const Objectives = mapSchema(
  stringEnum(OBJECTIVES, 'Direction of improvement.'),
  `Direction of improvement by indicator: minimize or maximize. The limit is ${METRICS_MAX} indicators, with names of 1 to ${METRIC_CHARS_MAX} characters. The default is minimize. Beyond the specification.`,
);

const Interval = Type.Object(
  { low: numberSchema('Lower bound.'), high: numberSchema('Upper bound.') },
  { $id: 'Interval', description: 'A 95 % interval.' },
);

const Estimate = Type.Object(
  {
    value: numberSchema('The estimate.'),
    interval: nullable(Interval),
  },
  { $id: 'Estimate', description: 'A number with its 95 % interval, which is null for too few inputs.' },
);

const Tolerance = Type.Object(
  {
    type: stringEnum(['absolute', 'relative'], 'relative: a share of the mean of the control.'),
    value: numberSchema('Largest difference that counts as equivalent.'),
  },
  { description: 'Equivalence margin.' },
);

const tallyFields = {
  total: integerSchema('All on either side.'),
  usable: integerSchema('Those with a number on both sides.'),
  wins: integerSchema('Those in which the candidate is better.'),
  ties: integerSchema('Those in which both sides are equal.'),
  losses: integerSchema('Those in which the control is better.'),
};

const sideFields = {
  runs: RunCounts,
  missing: integerSchema('Succeeded runs without a number for the indicator.'),
  mean: nullableNumberSchema('Mean over the inputs with a number on both sides.'),
};

/** The fields that every kind of comparison has. */
const comparisonFields = {
  indicator: Type.String({ description: 'The indicator compared.' }),
  objective: stringEnum(OBJECTIVES, 'Direction of improvement.'),
  verdict: stringEnum(
    VERDICTS,
    'better or worse: at least 10 inputs (or units), the interval excludes 0, and p is at most 0.05. equivalent: the interval lies within the tolerance. undecided: neither.',
  ),
  reasons: Type.Array(Type.String(), { description: 'Reasons for the verdict, in sentences.' }),
  warnings: Type.Array(Type.String(), { description: 'Caveats, in sentences.' }),
  mean_difference: nullable(Estimate),
  tolerance: Tolerance,
};

export const Comparison = Type.Object(
  {
    ...comparisonFields,
    more_inputs: nullable(
      integerSchema(
        'Estimated number of additional inputs for a decision; null if it is decided or the number is unknown.',
      ),
    ),
    inputs: Type.Object(tallyFields, { description: 'Inputs, each counted once over its repetitions.' }),
    pairs: Type.Object(tallyFields, { description: 'Pairs of runs with the same input and repetition.' }),
    control: Type.Object(sideFields, { description: 'The control.' }),
    candidate: Type.Object(sideFields, { description: 'The candidate.' }),
    ratio: nullable(Estimate),
    wilcoxon: Type.Object(
      {
        n: integerSchema('Number of inputs that differ.'),
        w_plus: numberSchema('Sum of the ranks of the inputs in which the candidate is higher.'),
        w_minus: numberSchema('Sum of the ranks of the inputs in which the candidate is lower.'),
        p_value: nullableNumberSchema('Two-sided p-value; null for fewer than 10 inputs that differ.'),
        p_value_holm: nullableNumberSchema(
          "The p-value adjusted by Holm's method for all compared indicators.",
        ),
        method: stringEnum(['exact', 'normal'], 'Method that computes p.'),
        score: numberSchema('Standard deviations from the expectation under the null hypothesis.'),
      },
      { description: "Wilcoxon's signed-rank test over the inputs." },
    ),
    tie_tolerance: numberSchema(
      'Two values tie when they differ by at most this share of the larger magnitude.',
    ),
    bootstrap: Type.Object(
      {
        method: stringEnum(['studentized'], 'Bootstrap method of the intervals.'),
        confidence: numberSchema('0.95.'),
        resamples: integerSchema('Number of bootstrap resamples.'),
        seed: Type.String({
          description: 'Seed of the random numbers: the same seed gives the same results.',
        }),
      },
      { description: 'Computation of the intervals.' },
    ),
  },
  { $id: 'Comparison', description: 'A candidate against a control, paired by input, for one indicator.' },
);
export type Comparison = Static<typeof Comparison>;

const groupFields = {
  instance_id: Type.String({ description: 'Id of the instance.' }),
  version_id: Type.String({ description: 'Id of the version; empty for `latest`.' }),
  option_set: Type.Optional(Type.String({ description: 'Key of the option set, if any.' })),
  scenario_id: Type.Optional(Type.String({ description: 'Id of the scenario, if any.' })),
};

export const ComparedGroups = Type.Object(
  {
    control: Type.Object(groupFields, { description: 'The control.' }),
    candidate: Type.Object(groupFields, { description: 'The candidate.' }),
    indicators: Type.Array(Comparison, { description: 'The comparison of each indicator.' }),
  },
  { $id: 'ComparedGroups', description: 'One candidate against the control.' },
);
export type ComparedGroups = Static<typeof ComparedGroups>;

const switchbackSideFields = {
  instance_id: Type.String({ description: 'The instance.' }),
  units: Type.Object(
    { total: integerSchema('Units of the plan.'), usable: integerSchema('Those with a number.') },
    { description: 'Units of the instance.' },
  ),
  runs: RunCounts,
  missing: integerSchema('Succeeded runs without a number for the indicator.'),
  mean: nullableNumberSchema('Mean of the unit means.'),
};

export const SwitchbackComparison = Type.Object(
  {
    ...comparisonFields,
    more_units: nullable(
      integerSchema(
        'Estimated number of additional units for a decision; null if it is decided or the number is unknown.',
      ),
    ),
    control: Type.Object(switchbackSideFields, { description: 'The baseline.' }),
    candidate: Type.Object(switchbackSideFields, { description: 'The candidate.' }),
    units: Type.Array(
      Type.Object(
        {
          index: integerSchema('Number of the unit, from 0.'),
          instance_id: Type.String({ description: 'The instance that served the unit.' }),
          runs: integerSchema('Number of runs with a number.'),
          mean: numberSchema('Mean over those runs.'),
        },
        { description: 'A unit.' },
      ),
      { description: 'The units with a number.' },
    ),
    randomization: Type.Object(
      {
        p_value: nullableNumberSchema('Two-sided p-value; null if a side has no unit with a number.'),
        method: stringEnum(['exact', 'draws'], 'exact: the test enumerates every possible plan.'),
        assignments: integerSchema('Number of evaluated plans, including the real one.'),
        seed: Type.String({ description: 'Seed of the random plans.' }),
      },
      { description: 'Randomisation test: the share of random plans with at least the observed difference.' },
    ),
  },
  {
    $id: 'SwitchbackComparison',
    description: 'The candidate against the baseline for one indicator, by unit.',
  },
);
export type SwitchbackComparison = Static<typeof SwitchbackComparison>;
