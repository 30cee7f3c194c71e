/** Plans of experiments: how many inputs, repetitions or units find a difference, and which difference a plan finds. */
import Type, { type Static } from 'typebox';
import { hasFact, RUN_OWNER_KINDS } from '../experiment-types/experiment-types.ts';
import {
  BATCH_RUNS_MAX,
  METRIC_CHARS_MAX,
  PLANNED_DIFFERENCE_MAX,
  PLANNED_DIFFERENCE_MIN,
  PLANNED_SIZE_MAX,
  SWITCHBACK_UNITS_MAX,
} from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { nullable, optionalNullable, stringEnum, textSchema } from '../schemas/field-schemas.ts';
import { type ExperimentId, idReferenceSchema } from '../schemas/ids.ts';
import { ALL_CANDIDATES } from './all-candidates.ts';
import { Margin } from './experiment-settings.ts';

/** Kinds of experiments whose runs a plan can start from. A scenario test is a batch. */
export const PLANNED_FROM_TYPES = RUN_OWNER_KINDS.filter((kind) => hasFact(kind, 'hasCandidates'));

const PLANNED_UNITS = ['input', 'original', 'unit'] as const;
const COMPARISONS_MAX = 1000;

const deviation = (description: string) =>
  optionalNullable(
    Type.Number({
      minimum: 0,
      maximum: PLANNED_DIFFERENCE_MAX,
      description: `${description} For a relative difference it is a share, such as 0.05; otherwise it is in the unit of the indicator.`,
    }),
  );

const difference = Type.Object(
  {
    type: Margin.properties.type,
    value: Type.Number({
      minimum: PLANNED_DIFFERENCE_MIN,
      maximum: PLANNED_DIFFERENCE_MAX,
      description: 'The difference, such as 0.02 for 2 %.',
    }),
  },
  {
    additionalProperties: false,
    description: 'The difference to find. relative is a share of the control: 0.02 is 2 %.',
  },
);

const PlanRequest = Type.Object(
  {
    experiment_id: optionalNullable(
      idReferenceSchema<ExperimentId>(
        'Experiment whose runs show the spread: an earlier one, or a comparison of two equal instances. Without it, give the standard deviations.',
      ),
    ),
    experiment_type: optionalNullable(
      stringEnum(
        PLANNED_FROM_TYPES,
        'Type of that experiment; batch includes scenario tests. The default is the only type that has an experiment with this id.',
      ),
    ),
    indicator: optionalNullable(
      textSchema(
        'The indicator to compare. The default is the primary one of the experiment, else `result.value`.',
        {
          min: 1,
          max: METRIC_CHARS_MAX,
        },
      ),
    ),
    candidate: optionalNullable(
      textSchema(
        `The candidate of that experiment whose runs show the spread. Give the name in its results, or the id of its instance, version, ensemble, option set or scenario. \`${ALL_CANDIDATES}\` averages over all. Required for an experiment with several candidates.`,
        { min: 1, max: METRIC_CHARS_MAX },
      ),
    ),
    difference,
    power: optionalNullable(
      Type.Number({
        minimum: 0.5,
        maximum: 0.99,
        description: 'Share of experiments that find the difference. The default is 0.8.',
      }),
    ),
    comparisons: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: COMPARISONS_MAX,
        description:
          'Number of primary indicators times candidates; they share the error rate, which is 5 % up to 20 inputs and 4 % above. The default is 1.',
      }),
    ),
    inputs: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: PLANNED_SIZE_MAX,
        description:
          'Number of inputs, or of originals of a shadow test, to find the smallest difference of.',
      }),
    ),
    repetitions: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: BATCH_RUNS_MAX,
        description: 'Repetitions of these inputs. The default is 1.',
      }),
    ),
    units: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: SWITCHBACK_UNITS_MAX,
        description: 'Number of units of a switchback test to find the smallest difference of.',
      }),
    ),
    between_inputs: deviation('Standard deviation of the effect between inputs.'),
    within_input: deviation('Standard deviation of one run around the mean of its input.'),
    between_units: deviation('Standard deviation of the mean of a unit of a switchback test.'),
  },
  {
    $id: 'ExperimentPlanRequest',
    additionalProperties: false,
    description:
      'The difference to find, with an experiment whose runs show the spread, or with assumed standard deviations.',
  },
);
export type PlanRequest = Static<typeof PlanRequest>;

const nullableDeviation = (description: string) => nullable(Type.Number({ description }));

const ExperimentPlan = Type.Object(
  {
    experiment_id: nullable(Type.String({ description: 'The experiment that shows the spread, if any.' })),
    experiment_type: nullable(stringEnum(PLANNED_FROM_TYPES, 'Its type.')),
    indicator: nullable(Type.String({ description: 'The indicator of the experiment.' })),
    compared: nullable(
      Type.Object(
        {
          control: Type.String({ description: 'Name of the control.' }),
          candidates: Type.Array(Type.String(), { description: 'Names of the candidates.' }),
        },
        {
          description: 'The sides whose runs show the spread; null without pairs.',
        },
      ),
    ),
    unit: stringEnum(
      PLANNED_UNITS,
      'Unit of the plan: an input of a batch, an original of a shadow test, or a unit of a switchback test.',
    ),
    measure: stringEnum(['relative', 'absolute'], 'The scale of the difference and of the deviations.'),
    difference,
    power: Type.Number({ description: 'Share of experiments that find the difference.' }),
    comparisons: Type.Integer({ description: 'Number of comparisons that share the error rate.' }),
    error_rate: Type.Number({
      description:
        'Error rate of each comparison in the first plan, or with `units`. It is 0.05 up to 20 inputs, or 12 coins of a switchback test, else 0.04, divided by `comparisons`. Of a shadow test it is always 0.04.',
    }),
    between_inputs: nullableDeviation(
      'Standard deviation of the effect between inputs, which repetitions do not reduce.',
    ),
    within_input: nullableDeviation(
      'Standard deviation of one run around the mean of its input; null when no input has repetitions.',
    ),
    between_units: nullableDeviation('Standard deviation of the mean of a unit; null without units.'),
    observed: nullable(
      Type.Object(
        {
          units: Type.Integer({ description: 'Inputs, originals or units that showed the spread.' }),
          differing: Type.Integer({
            description:
              'Those with different values on both sides, at least 6; without a second side, those whose repetitions differ.',
          }),
          pairs: Type.Integer({
            description: 'Pairs of runs in them; the number of units for a switchback test.',
          }),
          design_effect: Type.Number({
            description:
              'Number of units that say as much as one independent unit; 1 for independent ones, and 1.6 where five of eight units of a plan count.',
          }),
          variance_factor: Type.Number({
            description:
              'Upper 80 % confidence limit of the variance of one unit, run once on each side, divided by its estimate. The plan takes the limit, and the deviations above are estimates.',
          }),
        },
        { description: 'The runs that show the spread; null for assumptions.' },
      ),
    ),
    plans: Type.Array(
      Type.Object(
        {
          repetitions: Type.Integer({ description: 'Runs of each input on each side.' }),
          inputs: Type.Integer({ description: 'Number of inputs, or of originals of a shadow test.' }),
          runs: Type.Integer({
            description:
              'Runs that the experiment creates: both sides of a batch, the copies of a shadow test.',
          }),
        },
        { description: 'A plan that finds the difference.' },
      ),
      { description: 'Plans that find the difference, by repetitions; empty for a switchback test.' },
    ),
    units: nullable(
      Type.Integer({
        description: `Units of a switchback test that find the difference, at least as many as its randomisation test needs to reject. It is null for other experiments, and when no plan of at most ${SWITCHBACK_UNITS_MAX} units gives a verdict.`,
      }),
    ),
    detectable_difference: nullable(
      Type.Number({
        description:
          'Smallest difference that the given `inputs` and `repetitions`, or `units`, find; null without them, and for a plan that cannot give a verdict.',
      }),
    ),
    sentences: Type.Array(Type.String(), { description: 'The plan and its caveats, in sentences.' }),
  },
  { $id: 'ExperimentPlan', description: 'Sizes of experiments that find a difference.' },
);
export type ExperimentPlan = Static<typeof ExperimentPlan>;

export const planExperiment = defineOperation({
  id: 'planExperiment',
  method: 'POST',
  path: '/v1/applications/{application_id}/experiments/plan',
  tag: 'experiment-plans',
  summary: 'Plan an experiment',
  description:
    'Returns the number of inputs and repetitions, or of units, that find a difference. With `inputs` and `repetitions`, or `units`, it also returns the smallest difference that they find. The spread comes from your assumptions or from the runs of an experiment, whose variance counts with its upper 80 % confidence limit. An experiment in which fewer than six inputs differ, or inputs are versions of a few, gets a 400. Nothing is created.',
  right: 'read',
  params: ApplicationParams,
  body: {
    schema: PlanRequest,
    example: {
      experiment_id: 'faster-planner',
      difference: { type: 'relative', value: 0.05 },
      inputs: 20,
      repetitions: 2,
    },
  },
  responses: {
    200: {
      description: 'The plan.',
      schema: ExperimentPlan,
      example: {
        experiment_id: 'faster-planner',
        experiment_type: 'batch',
        indicator: 'result.value',
        compared: { control: 'production', candidates: ['candidate'] },
        unit: 'input',
        measure: 'relative',
        difference: { type: 'relative', value: 0.05 },
        power: 0.8,
        comparisons: 1,
        error_rate: 0.04,
        between_inputs: 0.03,
        within_input: 0.05,
        between_units: null,
        observed: { units: 12, differing: 12, pairs: 36, design_effect: 1, variance_factor: 1.37 },
        plans: [
          { repetitions: 1, inputs: 24, runs: 48 },
          { repetitions: 2, inputs: 15, runs: 60 },
        ],
        units: null,
        detectable_difference: 0.0417,
        sentences: ['A verdict on a difference of 5 % needs 24 inputs, or 15 inputs with 2 repetitions.'],
      },
    },
  },
  errors: [404],
});
