/**
 * A batch experiment runs every input of an input set on several instances, with several option sets and repetitions,
 * and returns statistics. A scenario test does the same with individually listed runs. One call creates and starts it,
 * and it ends when its runs have ended.
 */

import Type, { type Static } from 'typebox';
import { batch } from '../experiment-types/batch.ts';
import { listTypesOfKind } from '../experiment-types/experiment-types.ts';
import {
  BATCH_RUNS_EMBEDDED_MAX,
  BATCH_RUNS_MAX,
  OPTION_SET_KEY_CHARS_MAX,
  OPTION_SETS_CHARS_MAX,
  OPTION_SETS_MAX,
  REQUEST_BODY_BYTES_MAX,
} from '../limits.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  mapSchema,
  Options,
  optionalNullable,
  StringOptions,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import {
  type ExperimentId,
  type InputSetId,
  type InstanceId,
  idReferenceSchema,
  idSchema,
} from '../schemas/ids.ts';
import { PageQuery, pageOrArray, WindowQuery } from '../schemas/paging.ts';
import { BatchRunCreate, batchPlanResponse, seedFields } from './batch-plan.ts';
import { decisionField } from './comparisons/decisions.ts';
import { questionField } from './comparisons/questions.ts';
import { defineExperimentOperations } from './define-operations.ts';
import { EnsembleArm } from './experiment-ensembles.ts';
import { experimentCreateFields, experimentFields, experimentProgressFields } from './experiment-fields.ts';
import { IndicatorProfile } from './experiment-profiles.ts';
import { ANALYSIS_METHOD, ComparedGroups, METHOD_DESCRIPTION } from './experiment-results.ts';
import {
  ExperimentRun,
  runProblemFields,
  runSettingsFields,
  runSettingsResponse,
} from './experiment-runs.ts';
import { comparisonSettingsFields, comparisonSettingsResponse, Objectives } from './experiment-settings.ts';
import { GroupedSummary } from './grouped-summaries.ts';
import { inputPropertyFields, inputPropertyResponse } from './input-properties.ts';
import { Racing, RacingCreate } from './racing.ts';

/** Types of a batch, for creating and for filtering lists. */
const BATCH_TYPES = listTypesOfKind('batch');

export const BatchExperimentCreate = Type.Object(
  {
    ...experimentCreateFields(batch.noun),
    input_set_id: optionalNullable(
      idReferenceSchema<InputSetId>(
        'The input set to run on; required unless every entry of `runs` names an input set.',
      ),
    ),
    instance_ids: optionalNullable(
      Type.Array(idReferenceSchema<InstanceId>('An instance of the application.'), {
        maxItems: BATCH_RUNS_MAX,
        description:
          'The instances to run on every input with every option set, without duplicates. The others are compared with the first, unless an acceptance test on the batch names another control. Not with `runs`.',
      }),
    ),
    option_sets: optionalNullable(
      mapSchema(
        Options,
        `Option sets by key. A key has letters, digits, periods, underscores and hyphens, at most ${OPTION_SET_KEY_CHARS_MAX} characters. There are at most ${OPTION_SETS_MAX} sets, with ${OPTION_SETS_CHARS_MAX} characters in all, as JSON. With \`instance_ids\`, every instance runs with each set; \`runs\` refer to sets by key. A set may be empty.`,
      ),
    ),
    runs: optionalNullable(
      Type.Array(BatchRunCreate, {
        maxItems: BATCH_RUNS_MAX,
        description:
          'The individual runs. The others are compared with those like the first. Not with `instance_ids`.',
      }),
    ),
    repetitions: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: BATCH_RUNS_MAX,
        description:
          'With `instance_ids`: how often each instance runs on each input with each option set. The default is 1. Beyond the specification.',
      }),
    ),
    ...seedFields,
    type: optionalNullable(
      stringEnum(BATCH_TYPES, 'Type of the experiment: batch or scenario. The default is batch.'),
    ),
    ...comparisonSettingsFields,
    ...inputPropertyFields,
    racing: optionalNullable(RacingCreate),
    ...runSettingsFields,
    content_type: optionalNullable(textSchema('Accepted for compatibility and ignored.', { max: 256 })),
  },
  {
    $id: 'BatchExperimentCreate',
    additionalProperties: false,
    description: `The experiment to create: an input set with \`instance_ids\`, or \`runs\`. The limit is ${BATCH_RUNS_MAX} runs; an ensemble counts as its child runs.`,
  },
);
export type BatchExperimentCreate = Static<typeof BatchExperimentCreate>;

const info = {
  ...experimentFields(batch.noun),
  type: stringEnum(BATCH_TYPES, 'Type of the experiment.'),
  input_set_id: Type.String({ description: 'Id of the input set; empty when each run names its own.' }),
  instance_ids: Type.Array(Type.String(), {
    description: 'Its instances, in order; empty when the runs were listed individually.',
  }),
  option_sets: mapSchema(
    StringOptions,
    'Its option sets by key, without options that are hidden from the role.',
  ),
  ...batchPlanResponse,
  objectives: Type.Optional(Objectives),
  ...comparisonSettingsResponse,
  ...inputPropertyResponse,
  racing: Type.Optional(Racing),
  ...runSettingsResponse,
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Reasons why the plan cannot give some verdicts, in sentences; absent without any.',
    }),
  ),
  completed_at: Type.Optional(timestampSchema('Time at which the last run had ended; absent before')),
  ...experimentProgressFields,
};

export const BatchExperimentInfo = Type.Object(info, {
  $id: 'BatchExperimentInfo',
  description: 'A batch experiment without its runs and statistics.',
});
export type BatchExperimentInfo = Static<typeof BatchExperimentInfo>;

export const BatchExperiment = Type.Object(
  {
    ...info,
    runs: Type.Array(ExperimentRun, {
      description: `The newest ${BATCH_RUNS_EMBEDDED_MAX} runs, newest first. The list of its runs returns all of them.`,
    }),
    ...runProblemFields,
    grouped_distributional_summaries: Type.Array(GroupedSummary, {
      description:
        'Distributions of the numbers, by group of runs. Until the experiment ends, they cover the runs that have ended.',
    }),
    decision: decisionField,
    question: questionField,
    comparisons: Type.Array(ComparedGroups, {
      description:
        'Comparisons of every instance, version, option set and scenario with the first, or with the control of the first acceptance test on the batch. Beyond the specification.',
    }),
    profiles: Type.Optional(
      Type.Array(IndicatorProfile, {
        description:
          'Benchmark views of each primary indicator, or of `result.value`: virtual best and worst, performance profiles and distribution functions. Absent until an input has ended on two groups or more. Beyond the specification.',
      }),
    ),
    ensembles: Type.Optional(
      Type.Array(EnsembleArm, {
        description:
          'The ensembles of the experiment: the best of fewer runs. Absent without any that has ended. Beyond the specification.',
      }),
    ),
    method: Type.String({ description: METHOD_DESCRIPTION }),
    warnings: Type.Array(Type.String(), {
      description:
        'Reasons why the plan cannot give some verdicts, and statistics omitted because of limits, in sentences.',
    }),
  },
  { $id: 'BatchExperiment', description: 'A batch experiment with its runs and statistics.' },
);
export type BatchExperiment = Static<typeof BatchExperiment>;

const define = defineExperimentOperations(
  batch,
  Type.Object({
    ...ApplicationParams.properties,
    batch_id: idSchema<ExperimentId>('Id of the batch experiment.'),
  }),
);

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
  run_order: { design: 'randomized-blocks', seed: '8d1f0c52' },
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:09.000Z',
  completed_at: '2026-11-20T08:00:09.000Z',
  number_of_requested_runs: 4,
  number_of_runs: 4,
  number_of_completed_runs: 4,
  number_of_failed_runs: 0,
};

export const batchOperations = {
  createBatchExperiment: define.create({
    description:
      'Creates the experiment and plans its runs. With `instance_ids`, every instance runs every input with every option set, `repetitions` times; with `runs`, you list the runs. The runs wait in the queue, even if the instance disables queuing. The call validates the runs; deleting an instance before its runs are created lets them fail. The experiment stores its own copy of the inputs and of the ensembles.',
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
    response: {
      description: 'The started experiment.',
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
  }),
  listBatchExperiments: define.list({
    description:
      'Lists the batch experiments and scenario tests of the application, without runs and statistics.',
    query: Type.Object({
      ...WindowQuery,
      ...PageQuery,
      type: Type.Optional(
        stringEnum(BATCH_TYPES, 'Only experiments of this type. The default is both types.'),
      ),
    }),
    response: { schema: pageOrArray(BatchExperimentInfo), example: [example] },
  }),
  getBatchExperiment: define.get(
    `Returns the experiment with its newest ${BATCH_RUNS_EMBEDDED_MAX} runs, and its statistics so far. Every other instance, version, option set and scenario is compared with the first, or with the control of the first acceptance test on the batch. Comparisons are paired by input and repetition, and cover at most 50 indicators. The order is \`result.value\`, those in \`objectives\`, those below \`result\`, those below \`run\`, and then the rest by name. The limit is 1,000 comparisons: beyond it, the response has fewer indicators, and then fewer groups.`,
    {
      schema: BatchExperiment,
      example: {
        ...example,
        runs: [],
        refused_runs: [],
        failures: [],
        grouped_distributional_summaries: [],
        comparisons: [],
        method: ANALYSIS_METHOD,
        warnings: [],
      },
    },
  ),
  updateBatchExperiment: define.update(
    'Changes name and description. Another value of any other field returns 400.',
    { name: 'The new planner is faster', schema: BatchExperimentInfo, example },
  ),
  deleteBatchExperiment: define.delete(
    describeDeletion(
      'Deletes the experiment in any status.',
      [
        ['Its runs', 'Deleted soon after. The apps of running runs are stopped.'],
        ['Planned runs', 'Never created.'],
        ['Its input sets, and their sources', 'Unaffected.'],
      ],
      'You can reuse the id.',
    ),
  ),
  listBatchExperimentRuns: define.listRuns(
    'Lists the created runs, newest first. With `pagereturn`, `limit` or `pagetoken`, it returns one page; otherwise all runs.',
  ),
  getBatchExperimentMetadata: define.getMetadata('Returns the experiment without its runs and statistics.', {
    schema: BatchExperimentInfo,
    example,
  }),
} as const;
