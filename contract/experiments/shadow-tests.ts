/**
 * A shadow test shows what a candidate would have made of live runs. Between its start and its end every run that somebody
 * makes on the baseline instance is copied to the candidate: the same input, the same options, at the lowest priority. The
 * callers of the baseline notice nothing of it, and the copies decide nothing.
 */

import Type, { type Static } from 'typebox';
import { REFUSED_RUNS_EMBEDDED_MAX, SHADOW_CANDIDATES_MAX, SHADOW_RUNS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { mapOf, optionalNullable, stringEnum, timestamp } from '../schemas/field-schemas.ts';
import { type ExperimentId, idReferenceSchema, idSchema } from '../schemas/ids.ts';
import { PageQuery, pageOrArray, runsPage, WindowQuery } from '../schemas/paging.ts';
import {
  experimentCreateFields,
  experimentFields,
  experimentProgressFields,
  experimentUpdateFields,
} from './experiment-fields.ts';
import { ComparedGroups, GroupedSummary, Objectives } from './experiment-results.ts';
import { ExperimentRun, RefusedRun } from './experiment-runs.ts';

const NOUN = 'shadow test';
const zeroTime = 'The zero time, 0001-01-01T00:00:00Z, stands for none';

/** One baseline against one candidate. */
export const InstancePair = Type.Object(
  {
    baseline_instance_id: idReferenceSchema<string>(
      'The instance whose runs the test follows; `latest` is one, too.',
    ),
    candidate_instance_id: idReferenceSchema<string>('The instance that is tried.'),
  },
  { $id: 'InstancePair', description: 'The two instances of a test.' },
);

const startEvents = {
  time: timestamp('Runs made at or after this time are copied'),
};

const TerminationEventsCreate = Type.Object(
  {
    maximum_runs: Type.Integer({
      minimum: 1,
      maximum: SHADOW_RUNS_MAX,
      description: `How many runs of the baseline are copied at most, 1 to ${SHADOW_RUNS_MAX}; exact, however many are made at once. With several candidates each of these runs is copied to each of them.`,
    }),
    time: optionalNullable(timestamp(`Runs made before this time are copied. ${zeroTime}`)),
  },
  { description: 'What ends the test: whichever comes first.' },
);

export const ShadowTestCreate = Type.Object(
  {
    ...experimentCreateFields(NOUN),
    comparison: optionalNullable(InstancePair),
    comparisons: optionalNullable(
      mapOf(
        Type.Array(idReferenceSchema<string>('A candidate.'), {
          minItems: 1,
          maxItems: SHADOW_CANDIDATES_MAX,
          description: `Its candidates, 1 to ${SHADOW_CANDIDATES_MAX}, each once.`,
        }),
        'The same in the form of the published clients: one baseline with a list of its candidates. Either this or `comparison` is given.',
      ),
    ),
    start_events: optionalNullable(
      Type.Object(
        {
          time: optionalNullable(
            timestamp(
              `When to begin to copy; a test that is started before waits for it, and one that is started after begins at once. ${zeroTime}`,
            ),
          ),
        },
        { description: 'When the test begins to copy, once it is started: at once when nothing is said.' },
      ),
    ),
    termination_events: TerminationEventsCreate,
    objectives: optionalNullable(Objectives),
  },
  { $id: 'ShadowTestCreate', additionalProperties: false, description: 'The shadow test to make.' },
);
export type ShadowTestCreate = Static<typeof ShadowTestCreate>;

const ShadowTestUpdate = Type.Object(experimentUpdateFields(NOUN), {
  $id: 'ShadowTestUpdate',
  description: 'What can be changed; other fields are ignored.',
});

const shown = {
  ...experimentFields(NOUN),
  started_at: Type.Optional(timestamp('When it was started; absent before')),
  completed_at: Type.Optional(timestamp('When it was over; absent before')),
  comparison: InstancePair,
  comparisons: Type.Array(
    Type.Object(
      {
        baseline_instance_id: Type.String({ description: 'The baseline.' }),
        candidate_instance_ids: Type.Array(Type.String(), { description: 'Its candidates.' }),
      },
      { description: 'A baseline with its candidates.' },
    ),
    {
      description:
        'The same as `comparison`, in the form of the published clients; with all candidates where there are several.',
    },
  ),
  start_events: Type.Object(
    { time: Type.Optional(startEvents.time) },
    { description: 'When it begins to copy; empty for at once.' },
  ),
  termination_events: Type.Object(
    {
      maximum_runs: Type.Integer({ description: 'How many runs of the baseline are copied at most.' }),
      time: Type.Optional(timestamp('Runs made before this time are copied; absent for no such time')),
    },
    { description: 'What ends the test: whichever comes first.' },
  ),
  objectives: Objectives,
  ...experimentProgressFields,
};

const ShadowTestMetadata = Type.Object(shown, {
  $id: 'ShadowTestMetadata',
  description: 'A shadow test without its results. Its runs are the copies; the originals are not counted.',
});

const ShadowTest = Type.Object(
  {
    ...shown,
    grouped_distributional_summaries: Type.Array(GroupedSummary, {
      description:
        'Distributions over the originals that were copied and over their copies. The input of both is the id of the original.',
    }),
    compared: Type.Array(ComparedGroups, {
      description:
        'Each candidate against the baseline: every copy with its original, for at most 50 indicators, those that `objectives` names first. Beyond the specification.',
    }),
    refused_runs: Type.Array(RefusedRun, {
      description: `Copies that could not be made, ${REFUSED_RUNS_EMBEDDED_MAX} at most; their input is the original.`,
    }),
    warnings: Type.Array(Type.String(), {
      description: 'What was left out of the numbers, and sides that are of several versions, in sentences.',
    }),
  },
  { $id: 'ShadowTest', description: 'A shadow test with what it has found so far.' },
);

export const StopIntent = Type.Object(
  {
    intent: optionalNullable(
      stringEnum(
        ['complete', 'cancel'],
        'complete: what was found counts, as without a body; cancel: it does not.',
      ),
    ),
  },
  { $id: 'StopIntent', description: 'Why the test is stopped.' },
);

const ShadowParams = Type.Object({
  ...ApplicationParams.properties,
  shadow_id: idSchema<ExperimentId>('Id of the shadow test.'),
});

const ROOT = '/v1/applications/{application_id}/experiments/shadow';
const common = { tag: 'shadow-tests', right: 'experiment', params: ShadowParams, errors: [404] } as const;

const draft = {
  id: 'faster-search',
  app_id: 'routing',
  name: 'Faster search',
  description: '',
  status: 'draft',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
  comparison: { baseline_instance_id: 'production', candidate_instance_id: 'candidate' },
  comparisons: [{ baseline_instance_id: 'production', candidate_instance_ids: ['candidate'] }],
  start_events: {},
  termination_events: { maximum_runs: 100 },
  objectives: {},
  number_of_requested_runs: 0,
  number_of_runs: 0,
  number_of_completed_runs: 0,
  number_of_failed_runs: 0,
} as const;
const started = {
  ...draft,
  status: 'started',
  started_at: '2026-11-20T08:01:00.000Z',
  updated_at: '2026-11-20T08:01:00.000Z',
} as const;

export const createShadowTest = defineOperation({
  ...common,
  id: 'createShadowTest',
  method: 'POST',
  path: ROOT,
  summary: 'Create a shadow test',
  description:
    'Makes a draft, which does nothing until it is started. `comparison` or `comparisons` names the instances; what the indicators of the runs are compared by is said in `objectives`.',
  params: ApplicationParams,
  body: {
    schema: ShadowTestCreate,
    example: {
      id: 'faster-search',
      name: 'Faster search',
      comparison: { baseline_instance_id: 'production', candidate_instance_id: 'candidate' },
      termination_events: { maximum_runs: 100 },
    },
  },
  responses: { 201: { description: 'The draft.', schema: ShadowTestMetadata, example: draft } },
});

export const listShadowTests = defineOperation({
  ...common,
  id: 'listShadowTests',
  method: 'GET',
  path: ROOT,
  summary: 'List shadow tests',
  description: 'Lists the shadow tests of the application, without their results.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({ ...PageQuery, ...WindowQuery }),
  responses: {
    200: {
      description: 'The shadow tests, newest first.',
      schema: pageOrArray(ShadowTestMetadata),
      example: [started],
    },
  },
});

export const getShadowTest = defineOperation({
  ...common,
  id: 'getShadowTest',
  method: 'GET',
  path: `${ROOT}/{shadow_id}`,
  summary: 'Get a shadow test',
  description:
    'Answers the test with its results. While it goes on they are those of the runs that have ended; of a test that is over they are kept, also when its runs are deleted.',
  right: 'read',
  responses: {
    200: {
      description: 'The shadow test.',
      schema: ShadowTest,
      example: {
        ...started,
        grouped_distributional_summaries: [],
        compared: [],
        refused_runs: [],
        warnings: [],
      },
    },
  },
});

export const updateShadowTest = defineOperation({
  ...common,
  id: 'updateShadowTest',
  method: 'PATCH',
  path: `${ROOT}/{shadow_id}`,
  summary: 'Update a shadow test',
  description:
    'Changes name and description, whatever the status. Other fields are ignored, so the whole object can be sent back.',
  body: { schema: ShadowTestUpdate, example: { name: 'Faster search, second try' } },
  responses: {
    200: {
      description: 'The shadow test as it is now.',
      schema: ShadowTestMetadata,
      example: { ...started, name: 'Faster search, second try' },
    },
  },
});

export const deleteShadowTest = defineOperation({
  ...common,
  id: 'deleteShadowTest',
  method: 'DELETE',
  path: `${ROOT}/{shadow_id}`,
  summary: 'Delete a shadow test',
  description: describeDeletion(
    'Deletes the test with its results, whatever its status; one that has started is over with that.',
    [
      ['Its copies', 'Are deleted, those that are running are stopped first.'],
      ['The runs of the baseline', 'Stay as they are.'],
      ['The instances', 'Stay, and another test can be started on the baseline.'],
    ],
    'The id can be taken again.',
  ),
  responses: { 204: { description: 'It is gone.' } },
});

export const startShadowTest = defineOperation({
  ...common,
  id: 'startShadowTest',
  method: 'PUT',
  path: `${ROOT}/{shadow_id}/start`,
  summary: 'Start a shadow test',
  description:
    'Starts a draft: from now on, or from the time of its `start_events`, runs of the baseline are copied. One test at a time can have the runs of an instance: while another shadow or switchback test is started on the same baseline, the answer is 400 and names it. So is one that is over, and one of whose instances was deleted.',
  responses: {
    204: { description: 'It is started.' },
    304: { description: 'It was started already; nothing is changed.' },
  },
});

export const stopShadowTest = defineOperation({
  ...common,
  id: 'stopShadowTest',
  method: 'PUT',
  path: `${ROOT}/{shadow_id}/stop`,
  summary: 'Stop a shadow test',
  description:
    'Ends a test that has started. `complete`: its status is completed at once; what was made on the baseline until now is copied up to the limit, and copies under way still end and count. `cancel`: its status is canceled, and copies that have not ended are canceled. Stopping it again with the same intent changes nothing; a draft, and one that ended otherwise, is a 400.',
  body: { schema: StopIntent, required: false, example: { intent: 'complete' } },
  responses: { 204: { description: 'It is over.' } },
});

export const listShadowTestRuns = defineOperation({
  ...common,
  id: 'listShadowTestRuns',
  method: 'GET',
  path: `${ROOT}/{shadow_id}/runs`,
  summary: 'List the runs of a shadow test',
  description:
    'Lists the copies, whose `run_type.reference_id` is their original, and the originals that were copied.',
  right: 'read',
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The runs, newest first.', schema: runsPage(ExperimentRun), example: { runs: [] } },
  },
});

export const getShadowTestMetadata = defineOperation({
  ...common,
  id: 'getShadowTestMetadata',
  method: 'GET',
  path: `${ROOT}/{shadow_id}/metadata`,
  summary: 'Get the status of a shadow test',
  description: 'Answers the test without its results: what to ask for again and again.',
  right: 'read',
  responses: {
    200: { description: 'Status and progress.', schema: ShadowTestMetadata, example: started },
  },
});
