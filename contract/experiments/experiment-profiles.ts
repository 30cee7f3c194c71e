/**
 * Views of a batch experiment that operations research uses: virtual best and worst solver, performance profiles,
 * distribution functions and primal integrals. They describe groups of runs and have no verdict.
 */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../schemas/field-schemas.ts';
import { groupFields } from './experiment-results.ts';
import { DIRECTIONS } from './experiment-settings.ts';

/** Bounds of the profiles in one response. */
export const PROFILED_INDICATORS_MAX = 5;
export const PROFILED_GROUPS_MAX = 50;
/** Points of one curve, and of all curves together: half a megabyte. */
export const CURVE_POINTS_MAX = 100;
export const PROFILE_POINTS_MAX = 10_000;
export const VIRTUAL_INPUTS_MAX = 200;

const numberSchema = (description: string) => Type.Number({ description });
const integerSchema = (description: string) => Type.Integer({ description });
const nullableNumberSchema = (description: string) => nullable(numberSchema(description));

const StepPoint = Type.Object(
  {
    x: numberSchema('Position of the step: a ratio, or a value of the indicator.'),
    share: numberSchema('Share of inputs at or below it, from 0 to 1.'),
  },
  { $id: 'StepPoint', description: 'A step of a function that rises from 0 to at most 1.' },
);
const stepsSchema = (description: string) => Type.Array(StepPoint, { description });

const PrimalIntegral = Type.Object(
  {
    inputs: integerSchema('Inputs on which every group reported incumbents or failed.'),
    seconds: numberSchema('Mean over the inputs, in seconds.'),
    gap: numberSchema('Mean gap over the time of the runs, from 0 to 1.'),
  },
  {
    description:
      'Primal integral (Berthold 2013): area under the gap between the incumbent and the best value of any run, from 0 to the end of the longest run on the input. The incumbents are `series_data.value` of the statistics. Absent without them.',
  },
);

const ProfiledGroup = Type.Object(
  {
    ...groupFields,
    solved_share: numberSchema('Share of its runs that gave a number, as a mean over the inputs.'),
    wins: nullable(integerSchema('Inputs on which it has the best value, alone or with others.')),
    gap_to_best: nullableNumberSchema(
      'Mean gap to the virtual best, a share of the larger magnitude; 1 for a failed run.',
    ),
    gap_to_worst: nullableNumberSchema(
      'Mean gap to the virtual worst, from 0 to 1. Where a group failed on an input, the failure is the worst.',
    ),
    performance: nullable(
      stepsSchema(
        'Performance profile (Dolan and Moré 2002): share of inputs on which the value is at most x times as bad as the best. Null without a direction, or with a value not above 0.',
      ),
    ),
    pairwise: nullable(
      Type.Object(
        {
          candidate: stepsSchema('Performance profile of this group against the first one alone.'),
          control: stepsSchema('Performance profile of the first group against this one alone.'),
        },
        {
          description: 'Performance profiles of this group and the first one; null for the first.',
        },
      ),
    ),
    distribution: stepsSchema('Distribution function: share of inputs whose value is at most x.'),
    primal_integral: Type.Optional(PrimalIntegral),
  },
  { $id: 'ProfiledGroup', description: 'The curves of one group of runs.' },
);

export const IndicatorProfile = Type.Object(
  {
    indicator: Type.String({ description: 'The indicator.' }),
    objective: stringEnum(DIRECTIONS, 'Direction of improvement; with none, there are only distributions.'),
    inputs: Type.Object(
      {
        total: integerSchema('Inputs with any run.'),
        used: integerSchema('Inputs on which every group has ended.'),
        solved_by_all: integerSchema('Used inputs on which no run of any group failed.'),
      },
      { description: 'Numbers of distinct inputs.' },
    ),
    virtual_best: nullableNumberSchema(
      'Virtual best solver: mean over the inputs solved by all of the best value of any group; null without a direction.',
    ),
    virtual_worst: nullableNumberSchema('Virtual worst solver: the same with the worst value.'),
    best_by_input: Type.Array(
      Type.Object(
        {
          input_id: Type.String({ description: 'The input.' }),
          best: nullableNumberSchema('Best value of any group; null when all failed.'),
          worst: nullableNumberSchema('Worst value; null when a group failed.'),
          winners: Type.Array(Type.Integer(), { description: 'Positions of the best groups in `groups`.' }),
        },
        { description: 'The virtual solvers on one input.' },
      ),
      { description: `The first ${VIRTUAL_INPUTS_MAX} inputs; empty without a direction.` },
    ),
    groups: Type.Array(ProfiledGroup, {
      description: `The groups of runs, at most ${PROFILED_GROUPS_MAX}, the control first. A group that never reports the indicator is absent.`,
    }),
  },
  {
    $id: 'IndicatorProfile',
    description: `Benchmark views of one indicator. The value of a group on an input is the mean over its runs. All curves together have at most ${PROFILE_POINTS_MAX} points, and each ${CURVE_POINTS_MAX}.`,
  },
);
export type IndicatorProfile = Static<typeof IndicatorProfile>;
