/**
 * What experiments answer with numbers: distributions of indicators by groups of runs, and comparisons that end in a
 * verdict. How each number is made stands with the statistics of the server; here is what it means to a reader.
 */
import Type, { type Static } from 'typebox';
import { METRIC_CHARS_MAX, METRICS_MAX } from '../limits.ts';
import { mapOf, nullable, stringEnum } from '../schemas/field-schemas.ts';

const number = (description: string) => Type.Number({ description });
const whole = (description: string) => Type.Integer({ description });
const numberOrNull = (description: string) => nullable(number(description));

const PERCENTS = ['01', '05', '10', '25', '50', '75', '90', '95', '99'] as const;

/** Both spellings: clients read the lower one, the specification names the upper. */
const Percentiles = Type.Object(
  Object.fromEntries(
    PERCENTS.flatMap((percent) => [
      [`p${percent}`, number(`${Number(percent)} % of the values are at most this.`)],
      [`P${percent}`, number(`The same as p${percent}.`)],
    ]),
  ) as Record<`${'p' | 'P'}${(typeof PERCENTS)[number]}`, ReturnType<typeof number>>,
  { $id: 'Percentiles', description: 'Percentiles, interpolated linearly between values (type 7).' },
);

const Distribution = Type.Object(
  {
    min: number('The smallest value.'),
    max: number('The largest value.'),
    count: whole('How many runs have a number.'),
    mean: number('Their mean.'),
    std: number('Their standard deviation (n - 1); 0 for one value.'),
    shifted_geometric_mean: Type.Object(
      {
        value: number('exp(mean of ln(x + shift)) - shift.'),
        shift: number('10, or more where a value is not above -10.'),
      },
      { description: 'The shifted geometric mean and its shift.' },
    ),
    percentiles: Percentiles,
  },
  { $id: 'Distribution', description: 'How the numbers of one indicator are spread.' },
);

const RunCounts = Type.Object(
  {
    total: whole('All of them.'),
    succeeded: whole('Those that succeeded; only they give numbers.'),
    failed: whole('Those that failed, and those that could not be made.'),
    canceled: whole('Those that were canceled.'),
    pending: whole('Those that have not ended.'),
    without_statistics: whole('Those that succeeded and reported no indicator.'),
  },
  { $id: 'RunCounts', description: 'Runs by how they ended.' },
);

const GROUP_KEYS = ['inputID', 'instanceID', 'versionID', 'optionSetID', 'scenarioID'] as const;

export const GroupedSummary = Type.Object(
  {
    group_keys: Type.Array(stringEnum(GROUP_KEYS, 'What the runs are grouped by.'), {
      description: 'What the runs are grouped by.',
    }),
    group_values: Type.Array(Type.String(), { description: 'The value of each key; empty for none.' }),
    indicator_keys: Type.Array(Type.String(), {
      description: 'Indicators with at least one number in the group.',
    }),
    indicator_distributions: mapOf(Distribution, 'The distribution of each of them.'),
    runs: RunCounts,
    indicator_counts: mapOf(
      Type.Object(
        {
          usable: whole('Runs whose value is a number.'),
          unusable: whole('Runs whose value is something else: "nan", "+inf", "-inf", a text or a flag.'),
          missing: whole('Runs without a value.'),
        },
        { description: 'Of one indicator.' },
      ),
      'Of the runs that succeeded, by indicator.',
    ),
  },
  { $id: 'GroupedSummary', description: 'The distributions of one group of runs.' },
);
export type GroupedSummary = Static<typeof GroupedSummary>;

const VERDICTS = ['better', 'worse', 'equivalent', 'undecided'] as const;
const OBJECTIVES = ['minimize', 'maximize'] as const;
export type Objective = (typeof OBJECTIVES)[number];

/** What better means, by indicator: given when an experiment is created. */
export const Objectives = mapOf(
  stringEnum(OBJECTIVES, 'Whether less or more is better.'),
  `What is better, by indicator: minimize or maximize; at most ${METRICS_MAX} indicators, with names of 1 to ${METRIC_CHARS_MAX} characters. An indicator that is not named is minimized. Beyond the specification.`,
);

const Interval = Type.Object(
  { low: number('Where it begins.'), high: number('Where it ends.') },
  { $id: 'Interval', description: 'A 95 % interval.' },
);

const Estimate = Type.Object(
  {
    value: number('The estimate.'),
    interval: nullable(Interval),
  },
  { $id: 'Estimate', description: 'A number with its 95 % interval; null for too few inputs.' },
);

const Tolerance = Type.Object(
  {
    type: stringEnum(['absolute', 'relative'], 'relative: a share of the mean of the control.'),
    value: number('How far apart two numbers may be and still be equivalent.'),
  },
  { description: 'What counts as equivalent.' },
);

const Tally = Type.Object({
  total: whole('All that either side ran.'),
  usable: whole('Those with a number on both sides.'),
  wins: whole('Those in which the candidate is better.'),
  ties: whole('Those in which both are equal.'),
  losses: whole('Those in which the control is better.'),
});

const Side = Type.Object({
  runs: RunCounts,
  missing: whole('Runs that succeeded without a number of the indicator.'),
  mean: numberOrNull('The mean over the inputs with a number on both sides.'),
});

/** What every comparison says, however its numbers come about. */
const judged = {
  indicator: Type.String({ description: 'The indicator compared.' }),
  objective: stringEnum(OBJECTIVES, 'Whether less or more is better.'),
  verdict: stringEnum(
    VERDICTS,
    'better or worse: at least 10 inputs (or units), the interval excludes 0 and p is at most 0.05; equivalent: the interval lies within the tolerance; undecided: neither.',
  ),
  reasons: Type.Array(Type.String(), { description: 'Why, in sentences.' }),
  warnings: Type.Array(Type.String(), { description: 'What to beware of, in sentences.' }),
  mean_difference: nullable(Estimate),
  tolerance: Tolerance,
};

export const Comparison = Type.Object(
  {
    ...judged,
    more_inputs: nullable(
      whole('About how many more inputs would decide; null when it is decided or cannot be told.'),
    ),
    inputs: { ...Tally, description: 'Inputs, each counted once over its repetitions.' } as typeof Tally,
    pairs: { ...Tally, description: 'Pairs of runs with the same input and repetition.' } as typeof Tally,
    control: { ...Side, description: 'The side compared against.' } as typeof Side,
    candidate: { ...Side, description: 'The side that is judged.' } as typeof Side,
    ratio: nullable(Estimate),
    wilcoxon: Type.Object(
      {
        n: whole('Inputs that differ.'),
        w_plus: number('Sum of the ranks of those in which the candidate has more.'),
        w_minus: number('Sum of the ranks of those in which it has less.'),
        p_value: numberOrNull('Two-sided; null for fewer than 10 inputs that differ.'),
        p_value_holm: numberOrNull('The same, adjusted for all indicators compared together.'),
        method: stringEnum(['exact', 'normal'], 'How p was computed.'),
        score: number('Standard deviations from what chance would give.'),
      },
      { description: "Wilcoxon's signed-rank test over the inputs." },
    ),
    tie_tolerance: number('The share of the larger magnitude up to which two values tie.'),
    bootstrap: Type.Object(
      {
        method: stringEnum(['studentized'], 'How the intervals are made.'),
        confidence: number('0.95.'),
        resamples: whole('How often the inputs were drawn again.'),
        seed: Type.String({ description: 'What the draws come from: the same seed gives the same numbers.' }),
      },
      { description: 'How the intervals were computed.' },
    ),
  },
  { $id: 'Comparison', description: 'A candidate against a control, paired by input, for one indicator.' },
);
export type Comparison = Static<typeof Comparison>;

const groupOfRuns = Type.Object({
  instance_id: Type.String({ description: 'Its instance.' }),
  version_id: Type.String({ description: 'Its version; empty for `latest`.' }),
  option_set: Type.Optional(Type.String({ description: 'Its option set, where there are any.' })),
  scenario_id: Type.Optional(Type.String({ description: 'Its scenario, where there are any.' })),
});

export const ComparedGroups = Type.Object(
  {
    control: { ...groupOfRuns, description: 'What is compared against.' } as typeof groupOfRuns,
    candidate: { ...groupOfRuns, description: 'What is judged.' } as typeof groupOfRuns,
    indicators: Type.Array(Comparison, { description: 'The comparison of each indicator.' }),
  },
  { $id: 'ComparedGroups', description: 'One candidate against the control.' },
);
export type ComparedGroups = Static<typeof ComparedGroups>;

const SwitchbackSide = Type.Object({
  instance_id: Type.String({ description: 'The instance.' }),
  units: Type.Object(
    { total: whole('Units of the plan.'), usable: whole('Those with a number.') },
    { description: 'Its units.' },
  ),
  runs: RunCounts,
  missing: whole('Runs that succeeded without a number of the indicator.'),
  mean: numberOrNull('The mean of the means of its units.'),
});

export const SwitchbackComparison = Type.Object(
  {
    ...judged,
    more_units: nullable(
      whole('About how many more units would decide; null when it is decided or cannot be told.'),
    ),
    control: { ...SwitchbackSide, description: 'The baseline.' } as typeof SwitchbackSide,
    candidate: { ...SwitchbackSide, description: 'The candidate.' } as typeof SwitchbackSide,
    units: Type.Array(
      Type.Object(
        {
          index: whole('Which unit, from 0.'),
          instance_id: Type.String({ description: 'The instance that served it.' }),
          runs: whole('Runs the mean is over.'),
          mean: number('Their mean.'),
        },
        { description: 'A unit.' },
      ),
      { description: 'The units with a number.' },
    ),
    randomization: Type.Object(
      {
        p_value: numberOrNull('Two-sided; null without a unit with a number on both sides.'),
        method: stringEnum(
          ['exact', 'draws'],
          'exact: every plan that could have been drawn was gone through.',
        ),
        assignments: whole('Plans gone through, the real one among them.'),
        seed: Type.String({ description: 'What the draws come from.' }),
      },
      { description: 'How often a plan drawn at random would differ at least as much.' },
    ),
  },
  {
    $id: 'SwitchbackComparison',
    description: 'The candidate against the baseline for one indicator, unit by unit.',
  },
);
export type SwitchbackComparison = Static<typeof SwitchbackComparison>;
