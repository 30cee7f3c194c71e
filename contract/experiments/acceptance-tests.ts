/**
 * An acceptance test decides by predefined rules whether a candidate may replace a control. It evaluates a batch
 * experiment that has run both on the same inputs. Each of its metrics compares one statistic of one indicator over the
 * inputs that both solved, and the test passes when all of them pass. The batch exists before, or the same call creates it.
 */
import Type, { type Static } from 'typebox';
import { BATCH_RUNS_MAX, METRIC_CHARS_MAX, METRICS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  descriptionSchema,
  mapSchema,
  nameOrIdSchema,
  nullable,
  optionalNullable,
  stringEnum,
  textSchema,
} from '../schemas/field-schemas.ts';
import {
  type ExperimentId,
  type InputSetId,
  type InstanceId,
  idReferenceSchema,
  idSchema,
  newIdSchema,
  type VersionId,
} from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { experimentFields, experimentUpdateFields } from './experiment-fields.ts';
import { type Comparison, METHOD_DESCRIPTION } from './experiment-results.ts';

const METRIC_TYPES = [
  'direct-comparison',
  'absolute-threshold',
  'difference-threshold',
  'non-inferiority',
] as const;
const OPERATORS = ['gt', 'ge', 'lt', 'le', 'eq', 'ne'] as const;
export const METRIC_TOLERANCE_TYPES = ['', 'absolute', 'relative'] as const;

const metricType = stringEnum(
  METRIC_TYPES,
  'Compared values: candidate with control, candidate with the tolerance value, or candidate minus control with the tolerance value. Beyond the specification, non-inferiority compares the one-sided 95 % bound of the effect with the tolerance.',
);
const operator = stringEnum(OPERATORS, 'Operator of the comparison.');
const toleranceType = stringEnum(
  METRIC_TOLERANCE_TYPES,
  'relative: a share of the magnitude of the control.',
);
const toleranceValue = Type.Number({
  description:
    'For a direct comparison and for non-inferiority, the largest loss that you accept, 0 or more. For the other metric types, the threshold.',
});

const metric = {
  field: textSchema(`The indicator, such as \`result.value\`, 1 to ${METRIC_CHARS_MAX} characters.`, {
    min: 1,
    max: METRIC_CHARS_MAX,
  }),
  statistic: textSchema(
    `Statistic of the values on one side: min, max, mean, std, count, shifted_geometric_mean, or a percentile, such as p95. It must be mean for non-inferiority. 1 to ${METRIC_CHARS_MAX} characters.`,
    { min: 1, max: METRIC_CHARS_MAX },
  ),
  metric_type: metricType,
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

const AcceptanceMetric = Type.Object(metric, {
  $id: 'AcceptanceMetric',
  additionalProperties: false,
  description: 'A rule that the candidate must meet.',
});

const Side = Type.Object(
  {
    instance_id: idReferenceSchema<InstanceId>(
      'Id of the instance; `default` is the default instance of the application.',
    ),
    version_id: optionalNullable(
      idReferenceSchema<VersionId>('Only runs of this version; empty for any version.'),
    ),
  },
  {
    $id: 'AcceptanceSide',
    additionalProperties: false,
    description: 'One side of the test: `control` is in use, `candidate` may replace it.',
  },
);

const integerSchema = (description: string) => Type.Integer({ description });
const numberSchema = (description: string) => Type.Number({ description });

const SideStatistics = Type.Object(
  {
    instance_id: Type.String({ description: 'Id of the instance.' }),
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
      'ratio: geometric mean over the inputs of candidate divided by control, for a relative tolerance. difference: mean over the inputs of candidate minus control, for an absolute one.',
    ),
    effect: numberSchema('The estimate.'),
    bound: nullable(
      numberSchema(
        'One-sided 95 % bound of the effect, above it for lt and le, below it for gt and ge; null for fewer than 5 inputs.',
      ),
    ),
    inputs: integerSchema('Inputs that both sides solved; the rule needs 10.'),
  },
  { $id: 'NonInferiority', description: 'Effect of the candidate, for a rule of type non-inferiority.' },
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
  },
  { $id: 'AcceptanceResults', description: 'The results of an acceptance test. They never change.' },
);
export type AcceptanceResults = Static<typeof AcceptanceResults>;

const failureMargin = {
  minimum: 0,
  maximum: 1,
  description:
    'Largest share of the inputs, from 0 to 1, that the candidate may fail on although the control solved them. The default is none: one such input fails every rule. Beyond the specification.',
} as const;

const { status: _, ...sharedFields } = experimentFields('acceptance test');

export const AcceptanceTest = Type.Object(
  {
    ...sharedFields,
    status: stringEnum(
      ['started', 'completed', 'failed'],
      'started until the results exist, then the status of the batch: failed when no run of the batch succeeded, else completed. It does not depend on `passed`.',
    ),
    experiment_id: idSchema<ExperimentId>('Id of the evaluated batch experiment.'),
    control: Side,
    candidate: Side,
    metrics: Type.Array(AcceptanceMetric, { description: 'The rules. The candidate must meet all of them.' }),
    failure_margin: Type.Optional(Type.Number(failureMargin)),
    rules_before_results: Type.Optional(
      Type.Boolean({
        description:
          'true if the test was created before the first run of its batch ended, so that nobody could fit the rules to the results. Absent for a test of an older release. Beyond the specification.',
      }),
    ),
    tests_on_batch: integerSchema(
      'Number of acceptance tests on the same batch, including this one. Each is another chance to pass. Beyond the specification.',
    ),
    results: Type.Optional(AcceptanceResults),
  },
  {
    $id: 'AcceptanceTest',
    description: 'An acceptance test. `results` is absent until its batch ends.',
  },
);
export type AcceptanceTest = Static<typeof AcceptanceTest>;

export const AcceptanceTestCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<ExperimentId>('acceptance test')),
    name: nameOrIdSchema('acceptance test'),
    description: optionalNullable(descriptionSchema('acceptance test')),
    experiment_id: optionalNullable(
      idReferenceSchema<ExperimentId>(
        'The batch experiment to evaluate, with runs of both sides. The default is the batch with the id of the test.',
      ),
    ),
    control: Side,
    candidate: Side,
    metrics: Type.Array(AcceptanceMetric, {
      minItems: 1,
      maxItems: METRICS_MAX,
      description: `The rules, 1 to ${METRICS_MAX}, without duplicates.`,
    }),
    failure_margin: optionalNullable(Type.Number(failureMargin)),
    input_set_id: optionalNullable(
      idReferenceSchema<InputSetId>(
        'If the batch does not exist yet: the input set on which to create and start it.',
      ),
    ),
    repetitions: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: BATCH_RUNS_MAX,
        description: 'With `input_set_id`: how often each side runs each input. The default is 1.',
      }),
    ),
  },
  {
    $id: 'AcceptanceTestCreate',
    additionalProperties: false,
    description: 'The acceptance test to create.',
  },
);
export type AcceptanceTestCreate = Static<typeof AcceptanceTestCreate>;

const AcceptanceTestUpdate = Type.Object(experimentUpdateFields('acceptance test'), {
  $id: 'AcceptanceTestUpdate',
  description: 'The fields to change. Other fields are ignored.',
});

const AcceptanceTestParams = Type.Object({
  ...ApplicationParams.properties,
  acceptance_id: idSchema<ExperimentId>('Id of the acceptance test.'),
});

const example = {
  id: 'cheaper-routes',
  app_id: 'routing',
  name: 'Cheaper routes',
  description: '',
  status: 'started',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
  experiment_id: 'cheaper-routes',
  control: { instance_id: 'production', version_id: '' },
  candidate: { instance_id: 'staging', version_id: '' },
  metrics: [
    {
      field: 'result.value',
      statistic: 'mean',
      metric_type: 'direct-comparison',
      params: { operator: 'le', tolerance: { type: 'relative', value: 0.01 } },
    },
  ],
  rules_before_results: true,
  tests_on_batch: 1,
} as const;

export const createAcceptanceTest = defineOperation({
  id: 'createAcceptanceTest',
  method: 'POST',
  path: '/v1/applications/{application_id}/experiments/acceptance',
  tag: 'acceptance-tests',
  summary: 'Create an acceptance test',
  description:
    'Creates a test on the batch experiment `experiment_id`, which may be running or ended. Without such a batch, `input_set_id` creates and starts one in the same call. The server evaluates the rules once, when all runs of the batch have ended, and stores the result. Later changes to the runs do not affect it.',
  right: 'experiment',
  params: ApplicationParams,
  body: {
    schema: AcceptanceTestCreate,
    example: {
      id: 'cheaper-routes',
      name: 'Cheaper routes',
      control: { instance_id: 'production' },
      candidate: { instance_id: 'staging' },
      metrics: example.metrics,
      input_set_id: 'peak-days',
    },
  },
  responses: { 201: { description: 'The acceptance test.', schema: AcceptanceTest, example } },
  errors: [404],
});

export const listAcceptanceTests = defineOperation({
  id: 'listAcceptanceTests',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiments/acceptance',
  tag: 'acceptance-tests',
  summary: 'List acceptance tests',
  description:
    'Lists the acceptance tests of the application, each with `passed`. Get a single test for the result of each rule.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object(PageQuery),
  responses: {
    200: {
      description: 'The acceptance tests, newest first, without `metric_results`.',
      schema: pageOrArray(AcceptanceTest),
      example: [example],
    },
  },
  errors: [404],
});

export const getAcceptanceTest = defineOperation({
  id: 'getAcceptanceTest',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiments/acceptance/{acceptance_id}',
  tag: 'acceptance-tests',
  summary: 'Get an acceptance test',
  description: 'Returns the test, with its results once its batch has ended.',
  right: 'read',
  params: AcceptanceTestParams,
  responses: { 200: { description: 'The acceptance test.', schema: AcceptanceTest, example } },
  errors: [404],
});

export const updateAcceptanceTest = defineOperation({
  id: 'updateAcceptanceTest',
  method: 'PATCH',
  path: '/v1/applications/{application_id}/experiments/acceptance/{acceptance_id}',
  tag: 'acceptance-tests',
  summary: 'Update an acceptance test',
  description:
    'Changes name and description of the test; its batch is unaffected. You cannot change rules: create another test on the same batch.',
  right: 'experiment',
  params: AcceptanceTestParams,
  body: { schema: AcceptanceTestUpdate, example: { name: 'Routes that cost less' } },
  responses: {
    200: {
      description: 'The updated acceptance test.',
      schema: AcceptanceTest,
      example: { ...example, name: 'Routes that cost less' },
    },
  },
  errors: [404],
});

export const deleteAcceptanceTest = defineOperation({
  id: 'deleteAcceptanceTest',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/experiments/acceptance/{acceptance_id}',
  tag: 'acceptance-tests',
  summary: 'Delete an acceptance test',
  description: describeDeletion(
    'Deletes the acceptance test.',
    [
      ['Its batch experiment', 'Deleted with the last acceptance test on it.'],
      ['Runs of the batch', 'Deleted with the batch; unfinished runs are stopped.'],
      ['The input set, the instances and their versions', 'Unaffected.'],
    ],
    'You can reuse both ids at once. Deleting the batch deletes all acceptance tests on it.',
  ),
  right: 'experiment',
  params: AcceptanceTestParams,
  responses: { 204: { description: 'The acceptance test is deleted.' } },
  errors: [404],
});
