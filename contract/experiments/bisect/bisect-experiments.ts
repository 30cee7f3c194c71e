/**
 * A bisect experiment finds the version of an application that made an indicator worse: a binary search over the versions
 * between a good and a bad one. Each step compares a version with the good one by paired runs, until their difference is
 * decided.
 */
import Type, { type Static } from 'typebox';
import {
  BATCH_RUNS_MAX,
  BISECT_INPUTS_MAX,
  BISECT_VERSIONS_MAX,
  DESCRIPTION_CHARS_MAX,
  EXPERIMENT_DESCRIPTION_CHARS_MIN,
  METRIC_CHARS_MAX,
} from '../../limits.ts';
import { defineOperation } from '../../operation.ts';
import { ApplicationParams } from '../../schemas/application-params.ts';
import { describeDeletion } from '../../schemas/describe-deletion.ts';
import {
  nameOrIdSchema,
  nullable,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../../schemas/field-schemas.ts';
import {
  type ExperimentId,
  type InputId,
  type InputSetId,
  type InstanceId,
  idReferenceSchema,
  idSchema,
  newIdSchema,
  type VersionId,
} from '../../schemas/ids.ts';
import { PageQuery, pageOrArray, runsPage, WindowQuery } from '../../schemas/paging.ts';
import { experimentFields, experimentProgressFields, experimentUpdateFields } from '../experiment-fields.ts';
import { ExperimentRun, runProblemFields } from '../experiment-runs.ts';
import { BisectExperimentResult } from './bisect-results.ts';

const Difference = Type.Object(
  {
    type: stringEnum(
      ['relative', 'absolute'],
      'relative: a share of the value of the good version, which needs values above 0; absolute: in the unit of the indicator.',
    ),
    value: Type.Number({ minimum: 0, description: 'Smallest difference that matters, above 0.' }),
  },
  {
    $id: 'BisectDifference',
    additionalProperties: false,
    description: 'The smallest difference that matters.',
  },
);

const requestFields = {
  indicator: textSchema('Indicator that became worse, such as `result.value`.', {
    min: 1,
    max: METRIC_CHARS_MAX,
  }),
  good_version_id: idReferenceSchema<VersionId>('A version that is good.'),
  bad_version_id: idReferenceSchema<VersionId>('A later version that is worse.'),
  difference: Difference,
};

const BisectExperimentCreate = Type.Object(
  {
    id: Type.Optional(newIdSchema<ExperimentId>('bisect experiment; the default is a generated one')),
    name: nameOrIdSchema('bisect experiment'),
    description: optionalNullable(
      textSchema(
        `Description, ${EXPERIMENT_DESCRIPTION_CHARS_MIN} to ${DESCRIPTION_CHARS_MAX} characters. The default is none.`,
        { min: EXPERIMENT_DESCRIPTION_CHARS_MIN, max: DESCRIPTION_CHARS_MAX },
      ),
    ),
    input_set_id: optionalNullable(idReferenceSchema<InputSetId>('Input set to run; or give `input_ids`.')),
    input_ids: optionalNullable(
      Type.Array(idReferenceSchema<InputId>('Id of a managed input.'), {
        minItems: 1,
        maxItems: BISECT_INPUTS_MAX,
        description: 'Managed inputs to run; or give `input_set_id`.',
      }),
    ),
    instance_id: optionalNullable(
      idReferenceSchema<InstanceId>(
        'Instance whose configuration the runs have, such as options and execution class. Its version does not count. The default is an empty configuration.',
      ),
    ),
    ...requestFields,
    direction: optionalNullable(
      stringEnum(['minimize', 'maximize'], 'Direction of improvement. The default is minimize.'),
    ),
    confidence: optionalNullable(
      Type.Number({
        minimum: 0.5,
        maximum: 0.999,
        description: 'Probability with which the answer is right. The default is 0.95.',
      }),
    ),
    maximum_runs: optionalNullable(
      Type.Integer({
        minimum: 2,
        maximum: BATCH_RUNS_MAX,
        description: `Most runs of the search. The default is ${BATCH_RUNS_MAX}.`,
      }),
    ),
  },
  {
    $id: 'BisectExperimentCreate',
    additionalProperties: false,
    description: 'The bisect experiment to create.',
  },
);
export type BisectExperimentCreate = Static<typeof BisectExperimentCreate>;

const BisectExperimentUpdate = Type.Object(experimentUpdateFields('bisect experiment'), {
  $id: 'BisectExperimentUpdate',
  description: 'The fields to change. Other fields are ignored.',
});

const infoFields = {
  ...experimentFields('bisect experiment'),
  completed_at: Type.Optional(timestampSchema('End time; absent before the end')),
  input_set_id: nullable(Type.String({ description: 'Input set of the runs; null for managed inputs.' })),
  input_ids: Type.Array(Type.String(), { description: 'Ids of the inputs.' }),
  instance_id: nullable(Type.String({ description: 'Instance of the configuration; null for none.' })),
  ...requestFields,
  direction: stringEnum(['minimize', 'maximize'], 'Direction of improvement.'),
  confidence: Type.Number({ description: 'Probability with which the answer is right.' }),
  maximum_runs: Type.Integer({ description: 'Most runs of the search.' }),
  version_ids: Type.Array(Type.String(), {
    description:
      'The versions of the search in the order of their creation, from the good one to the bad one.',
  }),
  ...experimentProgressFields,
};

const BisectExperimentInfo = Type.Object(infoFields, {
  $id: 'BisectExperimentInfo',
  description: 'A bisect experiment without its steps.',
});
export type BisectExperimentInfo = Static<typeof BisectExperimentInfo>;

const BisectExperiment = Type.Object(
  { ...infoFields, ...runProblemFields, ...BisectExperimentResult.properties },
  { $id: 'BisectExperiment', description: 'A bisect experiment with its steps.' },
);
export type BisectExperiment = Static<typeof BisectExperiment>;

const BisectParams = Type.Object({
  ...ApplicationParams.properties,
  bisect_id: idSchema<ExperimentId>('Id of the bisect experiment.'),
});

const ROOT = '/v1/applications/{application_id}/experiments/bisect';

const example = {
  id: 'dearer-since-spring',
  app_id: 'routing',
  name: 'Dearer since spring',
  description: '',
  status: 'started',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
  input_set_id: null,
  input_ids: ['monday'],
  instance_id: 'production',
  indicator: 'result.value',
  good_version_id: 'v1',
  bad_version_id: 'v4',
  difference: { type: 'relative', value: 0.02 },
  direction: 'minimize',
  confidence: 0.95,
  maximum_runs: 1000,
  version_ids: ['v1', 'v2', 'v3', 'v4'],
  number_of_requested_runs: 16,
  number_of_runs: 16,
  number_of_completed_runs: 0,
  number_of_failed_runs: 0,
} as const;

const ended = {
  ...example,
  status: 'completed',
  updated_at: '2026-11-20T08:09:00.000Z',
  completed_at: '2026-11-20T08:09:00.000Z',
  number_of_requested_runs: 48,
  number_of_runs: 48,
  number_of_completed_runs: 48,
} as const;

export const createBisectExperiment = defineOperation({
  id: 'createBisectExperiment',
  method: 'POST',
  path: ROOT,
  tag: 'bisect-experiments',
  summary: 'Create and start a bisect experiment',
  description: `Starts the search for the version that made the indicator worse, among at most ${BISECT_VERSIONS_MAX} versions created after the good one and up to the bad one. The bad version is tested first. The response is 400 for a plan that cannot find a version, with the number of runs that it takes. The experiment stores its own copy of the inputs.`,
  right: 'experiment',
  params: ApplicationParams,
  body: {
    schema: BisectExperimentCreate,
    example: {
      id: example.id,
      name: example.name,
      input_ids: ['monday'],
      instance_id: 'production',
      indicator: 'result.value',
      good_version_id: 'v1',
      bad_version_id: 'v4',
      difference: { type: 'relative', value: 0.02 },
      maximum_runs: 1000,
    },
  },
  responses: { 201: { description: 'The started experiment.', schema: BisectExperimentInfo, example } },
  errors: [404],
});

export const listBisectExperiments = defineOperation({
  id: 'listBisectExperiments',
  method: 'GET',
  path: ROOT,
  tag: 'bisect-experiments',
  summary: 'List bisect experiments',
  description: 'Lists the bisect experiments of the application, without their steps.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({ ...WindowQuery, ...PageQuery }),
  responses: {
    200: {
      description: 'The experiments, newest first.',
      schema: pageOrArray(BisectExperimentInfo),
      example: [ended],
    },
  },
  errors: [404],
});

export const getBisectExperiment = defineOperation({
  id: 'getBisectExperiment',
  method: 'GET',
  path: `${ROOT}/{bisect_id}`,
  tag: 'bisect-experiments',
  summary: 'Get a bisect experiment',
  description: 'Returns the experiment with its steps so far and, at its end, its verdict.',
  right: 'read',
  params: BisectParams,
  responses: {
    200: {
      description: 'The experiment.',
      schema: BisectExperiment,
      example: {
        ...ended,
        refused_runs: [],
        failures: [],
        verdict: 'found',
        reason: 'Version "v3" is the first that is worse than "v1".',
        last_good_version_id: 'v2',
        first_bad_version_id: 'v3',
        possible_version_ids: ['v3'],
        skipped_versions: [],
        probability: 0.984,
        posterior: [
          { version_id: 'v2', probability: 0.008 },
          { version_id: 'v3', probability: 0.984 },
          { version_id: 'v4', probability: 0.008 },
        ],
        steps: [
          {
            version_id: 'v4',
            decision: 'worse',
            number_of_rounds: 8,
            number_of_lost_rounds: 0,
            effect: 0.031,
            interval: null,
            e_value: 85,
          },
        ],
        runs_needed: null,
      },
    },
  },
  errors: [404],
});

export const getBisectExperimentMetadata = defineOperation({
  id: 'getBisectExperimentMetadata',
  method: 'GET',
  path: `${ROOT}/{bisect_id}/metadata`,
  tag: 'bisect-experiments',
  summary: 'Get the status of a bisect experiment',
  description: 'Returns the experiment without its steps. Poll this operation.',
  right: 'read',
  params: BisectParams,
  responses: { 200: { description: 'The experiment.', schema: BisectExperimentInfo, example: ended } },
  errors: [404],
});

export const updateBisectExperiment = defineOperation({
  id: 'updateBisectExperiment',
  method: 'PATCH',
  path: `${ROOT}/{bisect_id}`,
  tag: 'bisect-experiments',
  summary: 'Update a bisect experiment',
  description: 'Changes name and description. Other fields are ignored.',
  right: 'experiment',
  params: BisectParams,
  body: { schema: BisectExperimentUpdate, example: { name: 'Dearer since March' } },
  responses: {
    200: { description: 'The updated experiment.', schema: BisectExperimentInfo, example: ended },
  },
  errors: [404],
});

export const listBisectExperimentRuns = defineOperation({
  id: 'listBisectExperimentRuns',
  method: 'GET',
  path: `${ROOT}/{bisect_id}/runs`,
  tag: 'bisect-experiments',
  summary: 'List the runs of a bisect experiment',
  description:
    'Lists the runs, newest first. `scenario_id` is the version that the step tests, and `repetition` the round, from 0.',
  right: 'read',
  params: BisectParams,
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The runs.', schema: runsPage(ExperimentRun), example: { runs: [] } },
  },
  errors: [404],
});

export const stopBisectExperiment = defineOperation({
  id: 'stopBisectExperiment',
  method: 'PUT',
  path: `${ROOT}/{bisect_id}/stop`,
  tag: 'bisect-experiments',
  summary: 'Stop a bisect experiment',
  description:
    'Cancels the search and its unfinished runs; the steps so far stay. Stopping an experiment that is stopped changes nothing, and one that has ended returns 400.',
  right: 'experiment',
  params: BisectParams,
  body: { schema: Type.Object({}), example: {}, required: false },
  responses: { 204: { description: 'The search is stopped.' } },
  errors: [404],
});

export const deleteBisectExperiment = defineOperation({
  id: 'deleteBisectExperiment',
  method: 'DELETE',
  path: `${ROOT}/{bisect_id}`,
  tag: 'bisect-experiments',
  summary: 'Delete a bisect experiment',
  description: describeDeletion(
    'Deletes the experiment in any status.',
    [
      ['Its runs', 'Deleted soon after. The apps of running runs are stopped.'],
      ['Planned runs', 'Never created.'],
      ['The versions, the instance and the inputs', 'Unaffected.'],
    ],
    'You can reuse the id.',
  ),
  right: 'experiment',
  params: BisectParams,
  responses: { 204: { description: 'The experiment is deleted.' } },
  errors: [404],
});
