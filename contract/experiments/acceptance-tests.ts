/**
 * An acceptance test decides by rules that were written down before whether a candidate may replace a control. It is a
 * view on a batch experiment that has run both on the same inputs: each of its metrics compares one statistic of one
 * indicator, and the test is passed when all of them are. The batch is made before, or in the same call.
 */
import Type, { type Static } from 'typebox';
import { BATCH_RUNS_MAX, METRIC_CHARS_MAX, METRICS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  description,
  mapOf,
  nameOrId,
  nullable,
  optionalNullable,
  stringEnum,
  text,
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
import type { Comparison } from './experiment-results.ts';

const METRIC_TYPES = ['direct-comparison', 'absolute-threshold', 'difference-threshold'] as const;
const OPERATORS = ['gt', 'ge', 'lt', 'le', 'eq', 'ne'] as const;
export const METRIC_TOLERANCE_TYPES = ['', 'absolute', 'relative'] as const;

const metricType = stringEnum(
  METRIC_TYPES,
  'What is compared: candidate with control, candidate with the value of the tolerance, or candidate minus control with the tolerance.',
);
const operator = stringEnum(OPERATORS, 'What has to hold.');
const toleranceType = stringEnum(
  METRIC_TOLERANCE_TYPES,
  'relative: a share of the magnitude of the control.',
);
const toleranceValue = Type.Number({
  description:
    'How much is allowed in favour of the operator, 0 or more; for the other types of metric the threshold itself.',
});

const metric = {
  field: text(`The indicator, such as \`result.value\`, 1 to ${METRIC_CHARS_MAX} characters.`, {
    min: 1,
    max: METRIC_CHARS_MAX,
  }),
  statistic: text(
    `Statistic of its values on a side: min, max, mean, std, count, shifted_geometric_mean, or a percentile, such as p95. 1 to ${METRIC_CHARS_MAX} characters.`,
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
            description: 'Nothing when absent, which answers show as an empty type and 0.',
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
  description: 'A rule that the candidate has to meet.',
});

const Side = Type.Object(
  {
    instance_id: idReferenceSchema<InstanceId>(
      'Its instance; `default` is the default instance of the application.',
    ),
    version_id: optionalNullable(
      idReferenceSchema<VersionId>('Only runs of this version; empty for whatever version the instance had.'),
    ),
  },
  {
    $id: 'AcceptanceSide',
    additionalProperties: false,
    description: 'A side of the test: `control` runs today, `candidate` may replace it.',
  },
);

const whole = (what: string) => Type.Integer({ description: what });
const number = (what: string) => Type.Number({ description: what });

const SideStatistics = Type.Object(
  {
    instance_id: Type.String({ description: 'Its instance.' }),
    version_id: Type.String({
      description: 'The version its runs were of; empty for `latest`, and where they were of several.',
    }),
    number_of_runs_total: whole('Its runs, however they ended, and those that could not be made.'),
    distribution_summary_statistics: mapOf(
      Type.Number(),
      'min, max, count, mean, std, shifted_geometric_mean and its shift_parameter; all but the last are 0 when no run has a number.',
    ),
    distribution_percentiles: mapOf(Type.Number(), 'p01, p05, p10, p25, p50, p75, p90, p95 and p99.'),
  },
  { $id: 'AcceptanceSideStatistics', description: 'The values of a field on one side.' },
);

/** Whose fields the batch experiment describes. */
const SideComparison = Type.Unsafe<Comparison>({
  type: 'object',
  additionalProperties: true,
  description:
    'The sides paired by input, with a `verdict`, as `comparisons` of a batch experiment are. gt and ge maximize, the others minimize.',
});

export const MetricResult = Type.Object(
  {
    metric: AcceptanceMetric,
    passed: Type.Boolean({ description: 'Whether the rule is met.' }),
    statistics: Type.Object(
      { control: SideStatistics, candidate: SideStatistics },
      { description: 'Both sides.' },
    ),
    control_value: nullable(number('The statistic of the control; null without a number.')),
    candidate_value: nullable(number('The statistic of the candidate; null without a number.')),
    threshold: nullable(
      number('What the candidate or the difference was held against; null when it cannot be told.'),
    ),
    reason: Type.String({
      description:
        'What was found, in sentences. It names the side whose runs failed, with the first error, a run that has it and how many share it, and the side whose runs did not report the field.',
    }),
    comparison: SideComparison,
  },
  {
    $id: 'AcceptanceMetricResult',
    description: 'How a rule was decided.',
  },
);
export type MetricResult = Static<typeof MetricResult>;

export const AcceptanceResults = Type.Object(
  {
    passed: Type.Boolean({ description: 'Whether all rules are met.' }),
    error: Type.Optional(
      Type.String({
        description:
          'Why nothing could be decided, with the first error of each side, a run that has it and how many share it; absent when it could.',
      }),
    ),
    metric_results: Type.Optional(
      Type.Array(MetricResult, { description: 'Each rule, in the order given; lists leave it out.' }),
    ),
  },
  { $id: 'AcceptanceResults', description: 'What came out. It never changes once it is there.' },
);
export type AcceptanceResults = Static<typeof AcceptanceResults>;

const { status: _, ...shown } = experimentFields('acceptance test');

export const AcceptanceTest = Type.Object(
  {
    ...shown,
    status: stringEnum(
      ['started', 'completed', 'failed'],
      'started until there are results, then the status of the batch: failed when no run of it succeeded, else completed, whether the test is passed or not.',
    ),
    experiment_id: idSchema<ExperimentId>('The batch experiment it is a view on.'),
    control: Side,
    candidate: Side,
    metrics: Type.Array(AcceptanceMetric, { description: 'The rules, all of which have to be met.' }),
    results: Type.Optional(AcceptanceResults),
  },
  {
    $id: 'AcceptanceTest',
    description: 'An acceptance test; `results` is absent while its batch goes on.',
  },
);
export type AcceptanceTest = Static<typeof AcceptanceTest>;

export const AcceptanceTestCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<ExperimentId>('acceptance test')),
    name: nameOrId('acceptance test'),
    description: optionalNullable(description('acceptance test')),
    experiment_id: optionalNullable(
      idReferenceSchema<ExperimentId>(
        'The batch experiment to decide on, which has runs of both sides; one with the id of the test when nothing is said.',
      ),
    ),
    control: Side,
    candidate: Side,
    metrics: Type.Array(AcceptanceMetric, {
      minItems: 1,
      maxItems: METRICS_MAX,
      description: `The rules, 1 to ${METRICS_MAX}, each once.`,
    }),
    input_set_id: optionalNullable(
      idReferenceSchema<InputSetId>(
        'When there is no such batch yet: the input set to make and start it on.',
      ),
    ),
    repetitions: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: BATCH_RUNS_MAX,
        description: 'With `input_set_id`: how often each side runs each input, 1 when nothing is said.',
      }),
    ),
  },
  {
    $id: 'AcceptanceTestCreate',
    additionalProperties: false,
    description: 'The acceptance test to make.',
  },
);
export type AcceptanceTestCreate = Static<typeof AcceptanceTestCreate>;

const AcceptanceTestUpdate = Type.Object(experimentUpdateFields('acceptance test'), {
  $id: 'AcceptanceTestUpdate',
  description: 'What can be changed; other fields are ignored.',
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
} as const;

export const createAcceptanceTest = defineOperation({
  id: 'createAcceptanceTest',
  method: 'POST',
  path: '/v1/applications/{application_id}/experiments/acceptance',
  tag: 'acceptance-tests',
  summary: 'Create an acceptance test',
  description:
    'Makes a test on the batch experiment that `experiment_id` names, be it still going on or over. Without such a batch, `input_set_id` says on which inputs to make and start one in the same call. The rules are decided once, when all runs of the batch have ended, and the result is kept: what becomes of the runs later does not change it.',
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
    'Lists the acceptance tests of the application, each with whether it is passed; how each rule was decided is read one by one.',
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
  description: 'Answers the test, with its results once its batch is over.',
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
    'Changes name and description of the test; its batch keeps its own. Rules cannot be changed: make another test on the same batch.',
  right: 'experiment',
  params: AcceptanceTestParams,
  body: { schema: AcceptanceTestUpdate, example: { name: 'Routes that cost less' } },
  responses: {
    200: {
      description: 'The acceptance test as it is now.',
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
      [
        'Its batch experiment',
        'Goes, unless another acceptance test is on it; then it goes with the last one.',
      ],
      ['Runs of the batch', 'Go with it; those that have not ended are stopped.'],
      ['The input set, the instances and their versions', 'Stay as they are.'],
    ],
    'The ids of both can be taken again at once. Deleting the batch deletes all acceptance tests on it.',
  ),
  right: 'experiment',
  params: AcceptanceTestParams,
  responses: { 204: { description: 'It is gone.' } },
  errors: [404],
});
