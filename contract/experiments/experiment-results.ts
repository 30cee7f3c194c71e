/**
 * Comparisons with a verdict that experiments return.
 * The statistics modules of the server document the formulas; this file describes the results to a reader.
 */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../schemas/field-schemas.ts';
import {
  dependenceFields,
  Estimate,
  failureFields,
  Interval,
  integerSchema,
  nullableNumberSchema,
  numberSchema,
  RelatedInputs,
  WithFailures,
} from './comparisons/comparison-parts.ts';
import { DIRECTIONS, Margin } from './experiment-settings.ts';
import { RunCounts } from './grouped-summaries.ts';
import { Interaction } from './input-interactions.ts';
import { racedConfigurationSchema } from './racing.ts';

/** The method of analysis of this release. Change it with every change after which equal runs can get another verdict. */
export const ANALYSIS_METHOD = '2026-11.5';

/** Describes the method that computed the results of an experiment. */
export const METHOD_DESCRIPTION = `Method of analysis that computed the results: ${ANALYSIS_METHOD}, or the older one that stored them, such as 2026-11.4. Beyond the specification.`;

const VERDICTS = ['better', 'worse', 'higher', 'lower', 'equivalent', 'same', 'undecided'] as const;
const ROLES = ['primary', 'guardrail', 'other'] as const;

const tallyFields = {
  total: integerSchema('All on either side.'),
  usable: integerSchema('Those in which both sides ended with a number or a failure.'),
  wins: integerSchema('Those in which the candidate is better, or only the control failed.'),
  ties: integerSchema('Those in which both sides are equal.'),
  losses: integerSchema('Those in which the control is better, or only the candidate failed.'),
};

const sideFields = {
  runs: RunCounts,
  missing: integerSchema('Succeeded runs without a number for the indicator.'),
  mean: nullableNumberSchema('Mean over the inputs with a number on both sides.'),
};

/** The fields that every kind of comparison has. */
const comparisonFields = {
  indicator: Type.String({ description: 'The indicator compared.' }),
  value_type: stringEnum(
    ['number', 'flag'],
    'flag: true counts as 1 and false as 0, so that means are shares of true.',
  ),
  role: stringEnum(ROLES, 'primary decides; a guardrail must not get worse; other indicators inform.'),
  objective: stringEnum(
    DIRECTIONS,
    'Direction of improvement; none: higher and lower instead of worse and better.',
  ),
  verdict: stringEnum(
    VERDICTS,
    'A direction: at least 10 inputs or units, an adjusted p-value of at most 0.04 (0.05 up to 20 inputs), and an interval or failures that agree. Equivalent: the interval lies within the margin. Same: all inputs tie; others may differ. Otherwise undecided. Before the planned end, it needs the e-value `threshold` of `sequential`, and any but worse needs `mean_e_value_max` too.',
  ),
  interim: Type.Boolean({
    description: 'true before the planned end, and for an experiment that was stopped early.',
  }),
  reasons: Type.Array(Type.String(), { description: 'Reasons for the verdict, in sentences.' }),
  warnings: Type.Array(Type.String(), { description: 'Caveats, in sentences.' }),
  measure: stringEnum(['relative', 'absolute'], 'The scale of the effect: ratios or differences.'),
  geometric_mean_ratio: nullable(Estimate),
  mean_difference: nullable(Estimate),
  tolerance: Margin,
  sequential: nullable(
    Type.Object(
      {
        e_value: numberSchema('Evidence against no difference so far; 1 is none.'),
        e_value_max: numberSchema(
          'Largest e-value so far, from ten independent units on; 1 before. A verdict that it once reached stays until the planned end.',
        ),
        mean_e_value_max: numberSchema('The same about the mean change, in the same direction.'),
        largest_loss: numberSchema(
          'Largest opposite change of one input, as a share, for which `mean_e_value_max` holds.',
        ),
        threshold: numberSchema('E-value that a verdict before the planned end needs.'),
        interval: nullable(Interval),
      },
      {
        description:
          'Evidence that stays valid however often it is read, with its confidence sequence as `interval`; null where dependence between callers forbids it. A switchback test has an interval from ten coins on, but not in the designs `independent` and `regular` with carry-over.',
      },
    ),
  ),
};

export const Comparison = Type.Object(
  {
    ...comparisonFields,
    more_inputs: nullable(
      integerSchema(
        'Estimated number of additional inputs for a decision; null if it is decided or the number is unknown.',
      ),
    ),
    more_inputs_range: nullable(
      Type.Object(
        {
          low: integerSchema('If the effect is half a standard error larger.'),
          high: nullable(integerSchema('If it is smaller; null for more than 100,000.')),
        },
        { description: 'Range of `more_inputs`.' },
      ),
    ),
    detectable_difference: nullableNumberSchema(
      'Smallest effect that 80 % of experiments of this size find, by the upper 80 % limit of the variance: a share for the relative measure, else a difference. Null where fewer than six inputs differ, or are versions of a few.',
    ),
    losses: nullable(
      Type.Object(
        {
          share: numberSchema('Share of inputs on which the candidate is worse.'),
          upper: numberSchema(
            '95 % upper bound of that share among other inputs of the same kind (with no loss in 10 independent inputs: 0.26). Groups of dependent inputs count as one each.',
          ),
        },
        { description: 'Inputs on which the candidate is worse; null without a direction.' },
      ),
    ),
    failures: Type.Object(failureFields, {
      description: 'Failures of both sides. A failure counts as the worst result of the side.',
    }),
    dependence: Type.Object(dependenceFields, { description: 'Dependence between the inputs.' }),
    related_inputs: nullable(RelatedInputs),
    inputs: Type.Object(tallyFields, { description: 'Inputs, each counted once over its repetitions.' }),
    pairs: Type.Object(tallyFields, { description: 'Pairs of runs with the same input and repetition.' }),
    control: Type.Object(sideFields, { description: 'The control.' }),
    candidate: Type.Object(sideFields, { description: 'The candidate.' }),
    ratio: nullable(Estimate),
    with_failures: nullable(WithFailures),
    sign_flips: Type.Object(
      {
        p_value: nullableNumberSchema(
          'Two-sided p-value, corrected for dependence; null for fewer than 6 inputs that differ.',
        ),
        p_value_holm: nullableNumberSchema(
          "The p-value adjusted by Holm's weighted method for every indicator of every candidate; the verdict uses it.",
        ),
        method: stringEnum(
          ['exact', 'drawn', 'normal'],
          'All flips of the signs, drawn ones, or the limit for many inputs.',
        ),
      },
      {
        description:
          'The test that decides: sign flips of the mean and of the signed ranks. Beyond the specification.',
      },
    ),
    wilcoxon: Type.Object(
      {
        n: integerSchema('Number of inputs that differ.'),
        w_plus: numberSchema('Sum of the ranks of the inputs in which the candidate is higher.'),
        w_minus: numberSchema('Sum of the ranks of the inputs in which the candidate is lower.'),
        p_value: nullableNumberSchema(
          'Two-sided p-value, corrected for dependence; null for fewer than 6 inputs that differ.',
        ),
        p_value_holm: nullableNumberSchema(
          "The p-value adjusted by Holm's weighted method for every indicator of every candidate.",
        ),
        method: stringEnum(['exact', 'normal'], 'Method that computes p.'),
        score: numberSchema('Standard deviations from the expectation under the null hypothesis.'),
      },
      { description: "Wilcoxon's signed-rank test over the inputs, for comparison: `sign_flips` decides." },
    ),
    interactions: Type.Optional(
      Type.Array(Interaction, {
        description:
          'The effect by each of the `features` of the inputs, for the primary indicators, or for `result.value`. Exploratory: it never changes the verdict. Beyond the specification.',
      }),
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

/** The ensemble of a group of runs, which an instance or a version lacks. */
export const ensembleIdSchema = Type.Optional(
  Type.String({ description: 'Id of the ensemble, if the runs are those of an ensemble.' }),
);

export const groupFields = {
  instance_id: Type.String({ description: 'Id of the instance; empty for an ensemble.' }),
  version_id: Type.String({ description: 'Id of the version; empty for `latest` and for an ensemble.' }),
  ensemble_id: ensembleIdSchema,
  option_set: Type.Optional(Type.String({ description: 'Key of the option set, if any.' })),
  scenario_id: Type.Optional(Type.String({ description: 'Id of the scenario, if any.' })),
};

export const ComparedGroups = Type.Object(
  {
    control: Type.Object(groupFields, { description: 'The control.' }),
    candidate: Type.Object(groupFields, { description: 'The candidate.' }),
    racing: Type.Optional(racedConfigurationSchema(groupFields)),
    indicators: Type.Array(Comparison, { description: 'The comparison of each indicator.' }),
  },
  { $id: 'ComparedGroups', description: 'One candidate against the control.' },
);
export type ComparedGroups = Static<typeof ComparedGroups>;

const switchbackSideFields = {
  instance_id: Type.String({ description: 'The instance.' }),
  units: Type.Object(
    {
      total: integerSchema('Units of the plan that have ended.'),
      usable: integerSchema('Those with a number.'),
      counted: integerSchema('Usable units that count: the same side served the `carry_over_units` before.'),
    },
    { description: 'Units of the instance.' },
  ),
  runs: RunCounts,
  missing: integerSchema('Succeeded runs without a number for the indicator.'),
  mean: nullableNumberSchema('Mean of the means of the counted units.'),
  estimated_mean: nullableNumberSchema(
    'The mean that the estimate compares: without the influence of what `adjusted_for` names, and geometric for a ratio. null without an estimate.',
  ),
};

export const SWITCHBACK_DESIGNS = ['independent', 'blocked', 'regular'] as const;

export const SwitchbackComparison = Type.Object(
  {
    ...comparisonFields,
    more_units: nullable(
      integerSchema(
        'Estimated additional units for a decision; null when decided or unknown, and when refused or deleted runs or carry-over withhold the verdict.',
      ),
    ),
    control: Type.Object(switchbackSideFields, { description: 'The baseline.' }),
    candidate: Type.Object(
      {
        ...switchbackSideFields,
        refused: integerSchema(
          'Runs that the candidate refused and the baseline served; they count for the candidate.',
        ),
      },
      { description: 'The candidate.' },
    ),
    units: Type.Array(
      Type.Object(
        {
          index: integerSchema('Number of the unit, from 0.'),
          instance_id: Type.String({ description: 'The instance that served the unit.' }),
          runs: integerSchema('Number of runs with a number.'),
          mean: numberSchema('Mean over those runs.'),
          counted: Type.Boolean({ description: 'true if the unit counts.' }),
        },
        { description: 'A unit.' },
      ),
      { description: 'The units with a number.' },
    ),
    randomization: Type.Object(
      {
        p_value: nullableNumberSchema('Two-sided p-value; null if a side has no counted unit with a number.'),
        p_value_holm: nullableNumberSchema(
          "The p-value adjusted by Holm's weighted method for every indicator; the verdict uses it.",
        ),
        method: stringEnum(['exact', 'draws'], 'exact: the test enumerates every possible plan.'),
        assignments: integerSchema('Number of evaluated plans, including the real one.'),
        coins: integerSchema('Number of coins that drew the plan.'),
        seed: Type.String({ description: 'Seed of the random plans.' }),
      },
      { description: 'Randomisation test: the share of random plans with at least the observed difference.' },
    ),
    design: Type.Object(
      {
        type: stringEnum(SWITCHBACK_DESIGNS, 'Design of the plan.'),
        carry_over_units: integerSchema('Units after a switch that do not count.'),
        burn_in_minutes: numberSchema('Minutes at the start of each unit whose runs do not count.'),
      },
      { description: 'The design that the analysis assumes.' },
    ),
    adjusted_for: Type.Array(Type.String(), {
      description: 'Properties of a unit whose influence is removed: trend, time_of_day or day.',
    }),
    carry_over_test: Type.Object(
      {
        p_value: nullableNumberSchema('p-value; null with too few units. Below 0.01 there is no verdict.'),
      },
      { description: 'Test that the influence of a unit ends after `carry_over_units`.' },
    ),
    sample_ratio_test: Type.Object(
      {
        p_value: nullableNumberSchema('p-value; null with too few units. Below 0.001 there is no verdict.'),
      },
      { description: 'Test that the units of both sides get equal numbers of runs.' },
    ),
    failures: Type.Object(
      {
        control: numberSchema("Share of the runs in the control's units that failed."),
        candidate: numberSchema("Share of the runs in the candidate's units that failed."),
        p_value: numberSchema('p-value of equal shares, by the randomisation test.'),
      },
      { description: 'Failures by side.' },
    ),
  },
  {
    $id: 'SwitchbackComparison',
    description: 'The candidate against the baseline for one indicator, by unit.',
  },
);
export type SwitchbackComparison = Static<typeof SwitchbackComparison>;
