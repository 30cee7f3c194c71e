/**
 * A batch experiment runs every input of an input set on several instances, with several sets of options, several times,
 * and tells what came out. A scenario test is the same with runs that are named one by one. It is made and started in one
 * call and ends by itself.
 */
import Type, { type Static } from 'typebox';
import {
  BATCH_RUNS_EMBEDDED_MAX,
  BATCH_RUNS_MAX,
  FAILURES_EMBEDDED_MAX,
  OPTION_SET_KEY_CHARS_MAX,
  OPTION_SETS_CHARS_MAX,
  OPTION_SETS_MAX,
  REFUSED_RUNS_EMBEDDED_MAX,
  REQUEST_BODY_BYTES_MAX,
  SCENARIO_ID_CHARS_MAX,
} from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  mapOf,
  Options,
  optionalNullable,
  StringOptions,
  stringEnum,
  text,
  timestamp,
} from '../schemas/field-schemas.ts';
import {
  type ExperimentId,
  type InputSetId,
  type InstanceId,
  idReferenceSchema,
  idSchema,
  type VersionId,
} from '../schemas/ids.ts';
import { PageQuery, pageOrArray, runsPage, WindowQuery } from '../schemas/paging.ts';
import {
  experimentCreateFields,
  experimentFields,
  experimentProgressFields,
  experimentUpdateFields,
} from './experiment-fields.ts';
import { ComparedGroups, GroupedSummary, Objectives } from './experiment-results.ts';
import { ExperimentRun, Failure, RefusedRun } from './experiment-runs.ts';

/** What can be said when a batch is made, and asked for in lists. */
const BATCH_TYPES = ['batch', 'scenario'] as const;

const BatchRunCreate = Type.Object(
  {
    instance_id: optionalNullable(
      idReferenceSchema<InstanceId>('The instance to run; needed where no `version_id` is given.'),
    ),
    version_id: optionalNullable(
      idReferenceSchema<VersionId>(
        'The version to run in place of the one of the instance, or with nothing configured.',
      ),
    ),
    option_set: optionalNullable(
      idReferenceSchema<string>('Key of the option set it is given; none when absent.'),
    ),
    input_id: optionalNullable(
      idReferenceSchema<string>('An input of the input set, by its id there; every input of it when absent.'),
    ),
    scenario_id: optionalNullable(
      text('The scenario it belongs to: letters, digits, periods, underscores and hyphens.', {
        max: SCENARIO_ID_CHARS_MAX,
      }),
    ),
    repetition: optionalNullable(
      Type.Integer({
        minimum: 0,
        maximum: BATCH_RUNS_MAX - 1,
        description: 'Which of the runs with the same input and options, from 0; 0 when absent.',
      }),
    ),
    input_set_id: optionalNullable(
      idReferenceSchema<InputSetId>('The input set of its input, in place of the one of the batch.'),
    ),
    run_number: optionalNullable(
      text(
        'Distinguishes runs that are otherwise the same. They become repetitions: each takes the next free number, in the order given. Not stored.',
        { max: 64 },
      ),
    ),
  },
  { $id: 'BatchRunCreate', additionalProperties: false, description: 'A run that is wanted.' },
);
export type BatchRunCreate = Static<typeof BatchRunCreate>;

export const BatchExperimentCreate = Type.Object(
  {
    ...experimentCreateFields('batch experiment'),
    input_set_id: optionalNullable(
      idReferenceSchema<InputSetId>(
        'What it runs on; needed unless every one of `runs` names an input set itself.',
      ),
    ),
    instance_ids: optionalNullable(
      Type.Array(idReferenceSchema<InstanceId>('An instance of the application.'), {
        maxItems: BATCH_RUNS_MAX,
        description:
          'The instances to run on every input, with every option set, each once; the others are compared with the first, unless an acceptance test on the batch names another control. Not with `runs`.',
      }),
    ),
    option_sets: optionalNullable(
      mapOf(
        Options,
        `Options by a key of letters, digits, periods, underscores and hyphens, at most ${OPTION_SET_KEY_CHARS_MAX} characters; at most ${OPTION_SETS_MAX}, and ${OPTION_SETS_CHARS_MAX} characters in all, written as JSON. With \`instance_ids\` every instance runs with each of them; \`runs\` name theirs. A set may be empty.`,
      ),
    ),
    runs: optionalNullable(
      Type.Array(BatchRunCreate, {
        maxItems: BATCH_RUNS_MAX,
        description:
          'The runs one by one; the others are compared with those like the first. Not with `instance_ids`.',
      }),
    ),
    repetitions: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: BATCH_RUNS_MAX,
        description:
          'With `instance_ids`: how often each of them runs on each input with each option set; 1 when absent. Beyond the specification.',
      }),
    ),
    type: optionalNullable(
      stringEnum(BATCH_TYPES, 'What it is called: batch, when nothing is said, or scenario.'),
    ),
    objectives: optionalNullable(Objectives),
    content_type: optionalNullable(text('Accepted for existing clients and ignored.', { max: 256 })),
  },
  {
    $id: 'BatchExperimentCreate',
    additionalProperties: false,
    description: `The experiment to make: an input set with \`instance_ids\`, or \`runs\`; at most ${BATCH_RUNS_MAX} runs in all.`,
  },
);
export type BatchExperimentCreate = Static<typeof BatchExperimentCreate>;

const BatchExperimentUpdate = Type.Object(experimentUpdateFields('batch experiment'), {
  $id: 'BatchExperimentUpdate',
  description: 'What can be changed; other fields are ignored.',
});

const info = {
  ...experimentFields('batch experiment'),
  type: stringEnum(BATCH_TYPES, 'What it is called.'),
  input_set_id: Type.String({ description: 'Its input set; empty when its runs name theirs.' }),
  instance_ids: Type.Array(Type.String(), {
    description: 'Its instances, in order; none when its runs were named one by one.',
  }),
  option_sets: mapOf(StringOptions, 'Its option sets by key, without options that the role may not see.'),
  objectives: Type.Optional(Objectives),
  completed_at: Type.Optional(timestamp('When the last of its runs had ended; absent before')),
  ...experimentProgressFields,
};

export const BatchExperimentInfo = Type.Object(info, {
  $id: 'BatchExperimentInfo',
  description: 'A batch experiment without its runs and numbers.',
});
export type BatchExperimentInfo = Static<typeof BatchExperimentInfo>;

export const BatchExperiment = Type.Object(
  {
    ...info,
    runs: Type.Array(ExperimentRun, {
      description: `Its runs that were made, newest first, at most the newest ${BATCH_RUNS_EMBEDDED_MAX}. The list of its runs has all of them.`,
    }),
    refused_runs: Type.Array(RefusedRun, {
      description: `Runs that could not be made, with the reason, the first ${REFUSED_RUNS_EMBEDDED_MAX} of them. They count as failed.`,
    }),
    failures: Type.Array(Failure, {
      description: `Why runs failed: each error of an instance and version once, in the order of the first runs, at most ${FAILURES_EMBEDDED_MAX}. Beyond the specification.`,
    }),
    grouped_distributional_summaries: Type.Array(GroupedSummary, {
      description:
        'How the numbers of its runs are spread, by groups of them. While it goes on, of the runs that have ended.',
    }),
    comparisons: Type.Array(ComparedGroups, {
      description:
        'Every instance, version, option set and scenario against the first, or against the control of the first acceptance test on the batch. Beyond the specification.',
    }),
    warnings: Type.Array(Type.String(), {
      description: 'What of the numbers was left out because it would be too much, in sentences.',
    }),
  },
  { $id: 'BatchExperiment', description: 'A batch experiment with its runs and numbers.' },
);
export type BatchExperiment = Static<typeof BatchExperiment>;

const BatchParams = Type.Object({
  ...ApplicationParams.properties,
  batch_id: idSchema<ExperimentId>('Id of the batch experiment.'),
});

const example = {
  id: 'faster-planner',
  app_id: 'routing',
  name: 'Is the new planner faster',
  description: 'The planner of spring against the one that serves now.',
  status: 'completed',
  type: 'batch',
  input_set_id: 'peak-days',
  instance_ids: ['production', 'candidate'],
  option_sets: { short: { 'solve.duration': '1s' } },
  objectives: { 'result.value': 'minimize' },
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:09.000Z',
  completed_at: '2026-11-20T08:00:09.000Z',
  number_of_requested_runs: 4,
  number_of_runs: 4,
  number_of_completed_runs: 4,
  number_of_failed_runs: 0,
};

export const createBatchExperiment = defineOperation({
  id: 'createBatchExperiment',
  method: 'POST',
  path: '/v1/applications/{application_id}/experiments/batch',
  tag: 'batch-experiments',
  summary: 'Create and start a batch experiment',
  description:
    'Makes the experiment and plans its runs: with `instance_ids` every input of the input set on every instance with every option set, as often as `repetitions` says; with `runs` what they say. The runs wait in the queue like any other, also where the instance refuses to wait. What a run is given is checked now; an instance that is deleted before its runs are made lets them fail. The experiment keeps its inputs by itself.',
  right: 'experiment',
  params: ApplicationParams,
  body: {
    bytesMax: REQUEST_BODY_BYTES_MAX,
    schema: BatchExperimentCreate,
    example: {
      id: 'faster-planner',
      name: 'Is the new planner faster',
      description: 'The planner of spring against the one that serves now.',
      input_set_id: 'peak-days',
      instance_ids: ['production', 'candidate'],
      option_sets: { short: { 'solve.duration': '1s' } },
      objectives: { 'result.value': 'minimize' },
    },
  },
  responses: {
    201: {
      description: 'The experiment; it has started.',
      schema: BatchExperimentInfo,
      example: {
        ...example,
        status: 'started',
        updated_at: example.created_at,
        completed_at: undefined,
        number_of_runs: 0,
        number_of_completed_runs: 0,
      },
    },
  },
  errors: [404],
});

export const listBatchExperiments = defineOperation({
  id: 'listBatchExperiments',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiments/batch',
  tag: 'batch-experiments',
  summary: 'List batch experiments',
  description: 'Lists the batch experiments and scenario tests of the application, without runs and numbers.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({
    ...WindowQuery,
    ...PageQuery,
    type: Type.Optional(stringEnum(BATCH_TYPES, 'Only those called so; all of them when absent.')),
  }),
  responses: {
    200: {
      description: 'The experiments, newest first.',
      schema: pageOrArray(BatchExperimentInfo),
      example: [example],
    },
  },
  errors: [404],
});

export const getBatchExperiment = defineOperation({
  id: 'getBatchExperiment',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiments/batch/{batch_id}',
  tag: 'batch-experiments',
  summary: 'Get a batch experiment',
  description: `Answers the experiment with its runs, at most the newest ${BATCH_RUNS_EMBEDDED_MAX} of them, and its numbers, which are updated while it runs. Every other instance, version, option set and scenario is compared with the first, or with the control of the first acceptance test on the batch, paired by input and repetition, for at most 50 indicators: \`result.value\`, those that \`objectives\` names, then those below \`result\`, below \`run\`, and the rest, by name; for fewer, and in the end for fewer groups, where that would be more than 1,000 comparisons.`,
  right: 'read',
  params: BatchParams,
  responses: {
    200: {
      description: 'The experiment.',
      schema: BatchExperiment,
      example: {
        ...example,
        runs: [],
        refused_runs: [],
        failures: [],
        grouped_distributional_summaries: [],
        comparisons: [],
        warnings: [],
      },
    },
  },
  errors: [404],
});

export const getBatchExperimentMetadata = defineOperation({
  id: 'getBatchExperimentMetadata',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiments/batch/{batch_id}/metadata',
  tag: 'batch-experiments',
  summary: 'Get the status of a batch experiment',
  description: 'Answers the experiment without its runs and numbers: what to ask until it has ended.',
  right: 'read',
  params: BatchParams,
  responses: { 200: { description: 'The experiment.', schema: BatchExperimentInfo, example } },
  errors: [404],
});

export const listBatchExperimentRuns = defineOperation({
  id: 'listBatchExperimentRuns',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiments/batch/{batch_id}/runs',
  tag: 'batch-experiments',
  summary: 'List the runs of a batch experiment',
  description:
    'Lists the runs that were made, newest first: all of them, or with `pagereturn`, `limit` or `pagetoken` a page.',
  right: 'read',
  params: BatchParams,
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The runs.', schema: runsPage(ExperimentRun), example: { runs: [] } },
  },
  errors: [404],
});

export const updateBatchExperiment = defineOperation({
  id: 'updateBatchExperiment',
  method: 'PATCH',
  path: '/v1/applications/{application_id}/experiments/batch/{batch_id}',
  tag: 'batch-experiments',
  summary: 'Update a batch experiment',
  description: 'Changes name and description; other fields are ignored.',
  right: 'experiment',
  params: BatchParams,
  body: { schema: BatchExperimentUpdate, example: { name: 'The new planner is faster' } },
  responses: { 200: { description: 'The experiment as it is now.', schema: BatchExperimentInfo, example } },
  errors: [404],
});

export const deleteBatchExperiment = defineOperation({
  id: 'deleteBatchExperiment',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/experiments/batch/{batch_id}',
  tag: 'batch-experiments',
  summary: 'Delete a batch experiment',
  description: describeDeletion(
    'Deletes the experiment, whether it has ended or not.',
    [
      ['Its runs', 'Are deleted soon after, those that are running too: their apps are ended.'],
      ['Runs that were not made yet', 'Are never made.'],
      ['Its input sets, and what they were made of', 'Stay as they are.'],
    ],
    'The id can be taken again.',
  ),
  right: 'experiment',
  params: BatchParams,
  responses: { 204: { description: 'It is gone.' } },
  errors: [404],
});
