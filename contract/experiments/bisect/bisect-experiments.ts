/**
 * A bisect experiment finds the version of an application that made an indicator worse: a binary search over the versions
 * between a good and a bad one. Each step compares a version with the good one by paired runs, until their difference is
 * decided.
 */

import Type, { type Static } from 'typebox';
import { bisect } from '../../experiment-types/bisect.ts';
import {
  BATCH_RUNS_MAX,
  BISECT_INPUTS_MAX,
  BISECT_VERSIONS_MAX,
  DESCRIPTION_CHARS_MAX,
  EXPERIMENT_DESCRIPTION_CHARS_MIN,
  METRIC_CHARS_MAX,
} from '../../limits.ts';
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
import { PageQuery, pageOrArray, WindowQuery } from '../../schemas/paging.ts';
import { defineExperimentOperations } from '../define-operations.ts';
import { experimentFields, experimentProgressFields } from '../experiment-fields.ts';
import { runProblemFields, runSettingsFields, runSettingsResponse } from '../experiment-runs.ts';
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

export const BisectExperimentCreate = Type.Object(
  {
    id: Type.Optional(newIdSchema<ExperimentId>('bisect experiment; the default is a generated one')),
    name: nameOrIdSchema(bisect.noun),
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
      stringEnum(
        ['minimize', 'maximize'],
        'Direction of improvement. The default is that of the objective of the application, if it is the indicator, else minimize.',
      ),
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
    ...runSettingsFields,
  },
  {
    $id: 'BisectExperimentCreate',
    additionalProperties: false,
    description: 'The bisect experiment to create.',
  },
);
export type BisectExperimentCreate = Static<typeof BisectExperimentCreate>;

const infoFields = {
  ...experimentFields(bisect.noun),
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
  ...runSettingsResponse,
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

const define = defineExperimentOperations(
  bisect,
  Type.Object({
    ...ApplicationParams.properties,
    bisect_id: idSchema<ExperimentId>('Id of the bisect experiment.'),
  }),
);

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
  number_of_requested_runs: 2,
  number_of_runs: 2,
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

export const bisectOperations = {
  createBisectExperiment: define.create({
    description: `Starts the search for the version that made the indicator worse, among at most ${BISECT_VERSIONS_MAX} versions created after the good one and up to the bad one. The bad version is tested first. The response is 400 for a plan that cannot find a version, with the number of runs that it takes. The experiment stores its own copy of the inputs.`,
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
    response: { description: 'The started experiment.', schema: BisectExperimentInfo, example },
  }),
  listBisectExperiments: define.list({
    description: 'Lists the bisect experiments of the application, without their steps.',
    query: Type.Object({ ...WindowQuery, ...PageQuery }),
    response: { schema: pageOrArray(BisectExperimentInfo), example: [ended] },
  }),
  getBisectExperiment: define.get(
    'Returns the experiment with its steps so far and, at its end, its verdict.',
    {
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
        change: { effect: 0.03, interval: { low: 0.028, high: 0.032 } },
        later_change: null,
      },
    },
  ),
  getBisectExperimentMetadata: define.getMetadata('Returns the experiment without its steps.', {
    schema: BisectExperimentInfo,
    example: ended,
  }),
  updateBisectExperiment: define.update(
    'Changes name and description. Another value of any other field returns 400.',
    { name: 'Dearer since March', schema: BisectExperimentInfo, example: ended },
  ),
  listBisectExperimentRuns: define.listRuns(
    'Lists the runs, newest first. `scenario_id` is the version that the step tests, and `repetition` the round, from 0.',
  ),
  stopBisectExperiment: define.stop(
    'Cancels the search and its unfinished runs; the steps so far stay. Stopping an experiment that is stopped changes nothing, and one that has ended returns 400.',
    { schema: Type.Object({}), example: {}, response: 'The search is stopped.' },
  ),
  deleteBisectExperiment: define.delete(
    describeDeletion(
      'Deletes the experiment in any status.',
      [
        ['Its runs', 'Deleted soon after. The apps of running runs are stopped.'],
        ['Planned runs', 'Never created.'],
        ['The versions, the instance and the inputs', 'Unaffected.'],
      ],
      'You can reuse the id.',
    ),
  ),
} as const;
