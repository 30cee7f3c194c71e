/**
 * An acceptance test decides by predefined rules whether a candidate may replace a control. It evaluates a batch
 * experiment that has run both on the same inputs. Each of its metrics compares one statistic of one indicator over the
 * inputs that both solved, and the test passes when all of them pass. The batch exists before, or the same call creates it.
 */

import Type, { type Static } from 'typebox';
import { acceptance } from '../experiment-types/acceptance.ts';
import { BATCH_RUNS_MAX, METRICS_MAX } from '../limits.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { descriptionSchema, nameOrIdSchema, optionalNullable, stringEnum } from '../schemas/field-schemas.ts';
import {
  type EnsembleId,
  type ExperimentId,
  type InputSetId,
  type InstanceId,
  idReferenceSchema,
  idSchema,
  newIdSchema,
  type VersionId,
} from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { AcceptanceMetric, AcceptanceResults } from './acceptance-results.ts';
import { decisionField } from './comparisons/decisions.ts';
import { questionField } from './comparisons/questions.ts';
import { defineExperimentOperations } from './define-operations.ts';
import { experimentFields } from './experiment-fields.ts';
import { ensembleIdSchema } from './experiment-results.ts';
import { runSettingsFields } from './experiment-runs.ts';
import { inputPropertyFields } from './input-properties.ts';

const SideCreate = Type.Object(
  {
    instance_id: optionalNullable(
      idReferenceSchema<InstanceId>(
        'Id of the instance; `default` is the default instance of the application. Required without an `ensemble_id`.',
      ),
    ),
    version_id: optionalNullable(
      idReferenceSchema<VersionId>('Only runs of this version; empty for any version.'),
    ),
    ensemble_id: optionalNullable(
      idReferenceSchema<EnsembleId>('Id of the ensemble, in place of an instance. Beyond the specification.'),
    ),
  },
  {
    $id: 'AcceptanceSideCreate',
    additionalProperties: false,
    description: 'One side of the test: `control` is in use, `candidate` may replace it.',
  },
);
export type AcceptanceSideCreate = Static<typeof SideCreate>;

const Side = Type.Object(
  {
    instance_id: Type.String({ description: 'Id of the instance; empty for an ensemble.' }),
    version_id: Type.String({ description: 'Only runs of this version; empty for any version.' }),
    ensemble_id: ensembleIdSchema,
  },
  { $id: 'AcceptanceSide', description: 'One side of the test.' },
);

const failureMargin = {
  minimum: 0,
  maximum: 1,
  description:
    'Largest share of the inputs, from 0 to 1, that the candidate may fail on although the control solved them. The default is none: one such input fails every rule. Beyond the specification.',
} as const;

const { status: _, ...sharedFields } = experimentFields(acceptance.noun);

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
    rules_before_results: Type.Boolean({
      description:
        'true if the test was created before the first run of its batch ended, so that nobody could fit the rules to the results. The decision makes it false if an earlier experiment had results on the same inputs. Beyond the specification.',
    }),
    created_batch: Type.Boolean({
      description:
        'true if the request for the test created its batch too. Such a batch is deleted with the test, unless another test compares its runs. Beyond the specification.',
    }),
    tests_on_batch: Type.Integer({
      description:
        'Number of acceptance tests made on the same batch, including this one and deleted ones. Each is another chance to pass. Beyond the specification.',
    }),
    warnings: Type.Array(Type.String(), {
      description:
        'Reasons to doubt the decision, in sentences: rules that came after results, and several tests on one batch. Beyond the specification.',
    }),
    decision: decisionField,
    question: questionField,
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
    id: optionalNullable(newIdSchema<ExperimentId>(acceptance.noun)),
    name: nameOrIdSchema(acceptance.noun),
    description: optionalNullable(descriptionSchema(acceptance.noun)),
    experiment_id: optionalNullable(
      idReferenceSchema<ExperimentId>(
        'The batch experiment to evaluate, with runs of both sides. The default is the batch with the id of the test.',
      ),
    ),
    control: SideCreate,
    candidate: SideCreate,
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
    ...inputPropertyFields,
    ...runSettingsFields,
  },
  {
    $id: 'AcceptanceTestCreate',
    additionalProperties: false,
    description: 'The acceptance test to create.',
  },
);
export type AcceptanceTestCreate = Static<typeof AcceptanceTestCreate>;

const define = defineExperimentOperations(
  acceptance,
  Type.Object({
    ...ApplicationParams.properties,
    acceptance_id: idSchema<ExperimentId>('Id of the acceptance test.'),
  }),
);

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
  created_batch: true,
  tests_on_batch: 1,
  warnings: [],
} as const;

export const acceptanceOperations = {
  createAcceptanceTest: define.create({
    description:
      'Creates a test on the batch experiment `experiment_id`, which may be running or ended. Without such a batch, `input_set_id` creates and starts one in the same call. The server evaluates the rules once, when all runs of the batch have ended, and stores the result. Later changes to the runs do not affect it.',
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
    response: { description: 'The acceptance test.', schema: AcceptanceTest, example },
  }),
  listAcceptanceTests: define.list({
    description:
      'Lists the acceptance tests of the application, each with `passed`. Get a single test for the result of each rule.',
    query: Type.Object(PageQuery),
    response: {
      description: 'The acceptance tests, newest first, without `metric_results`.',
      schema: pageOrArray(AcceptanceTest),
      example: [example],
    },
  }),
  getAcceptanceTest: define.get('Returns the test, with its results once its batch has ended.', {
    schema: AcceptanceTest,
    example,
  }),
  updateAcceptanceTest: define.update(
    'Changes name and description of the test; its batch is unaffected. You cannot change rules: create another test on the same batch.',
    {
      name: 'Routes that cost less',
      schema: AcceptanceTest,
      example: { ...example, name: 'Routes that cost less' },
    },
  ),
  deleteAcceptanceTest: define.delete(
    describeDeletion(
      'Deletes the acceptance test.',
      [
        [
          'Its batch experiment, if the same request created both (`created_batch`)',
          'Deleted with its runs, unless another acceptance test compares them. Unfinished runs are stopped.',
        ],
        ['Any other batch experiment', 'Unaffected, with its runs.'],
        ['The input set, the instances and their versions', 'Unaffected.'],
      ],
      'You can reuse the ids of what was deleted at once. Deleting the batch deletes all acceptance tests on it.',
    ),
  ),
} as const;
