/**
 * A shadow test compares a candidate with a baseline on copies of live runs. Between its start and its end, every run
 * that a caller creates on the baseline is copied to the candidate, with the same input and options, at the lowest
 * priority. The copies affect neither the callers nor any decision.
 */

import Type, { type Static } from 'typebox';
import { shadow } from '../experiment-types/shadow.ts';
import { REFUSED_RUNS_EMBEDDED_MAX, SHADOW_CANDIDATES_MAX, SHADOW_RUNS_MAX } from '../limits.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { mapSchema, optionalNullable, stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import { type ExperimentId, idReferenceSchema, idSchema } from '../schemas/ids.ts';
import { PageQuery, pageOrArray, WindowQuery } from '../schemas/paging.ts';
import { decisionField } from './comparisons/decisions.ts';
import { questionField } from './comparisons/questions.ts';
import { defineExperimentOperations } from './define-operations.ts';
import { experimentCreateFields, experimentFields, experimentProgressFields } from './experiment-fields.ts';
import { ANALYSIS_METHOD, ComparedGroups, METHOD_DESCRIPTION } from './experiment-results.ts';
import { RefusedRun } from './experiment-runs.ts';
import { comparisonSettingsFields, comparisonSettingsResponse, Objectives } from './experiment-settings.ts';
import { GroupedSummary } from './grouped-summaries.ts';
import { originalClusterBySchema } from './input-properties.ts';

const zeroTime = 'The zero time, 0001-01-01T00:00:00Z, means none';

/** One baseline and one candidate. */
export const InstancePair = Type.Object(
  {
    baseline_instance_id: idReferenceSchema<string>(
      'The instance whose runs the test copies; it can be `latest`.',
    ),
    candidate_instance_id: idReferenceSchema<string>('The candidate instance.'),
  },
  { $id: 'InstancePair', description: 'The two instances of a test.' },
);

const startEvents = {
  time: timestampSchema('Copy only runs created at or after this time'),
};

const TerminationEventsCreate = Type.Object(
  {
    maximum_runs: Type.Integer({
      minimum: 1,
      maximum: SHADOW_RUNS_MAX,
      description: `Maximum number of copied baseline runs, 1 to ${SHADOW_RUNS_MAX}. The first runs of a test are no random sample of its window: see \`sample_share\`. The limit is exact under concurrency. With several candidates, each run is copied to each candidate.`,
    }),
    time: optionalNullable(timestampSchema(`Copy only runs created before this time. ${zeroTime}`)),
  },
  { description: 'Conditions that end the test; the first one applies.' },
);

export const ShadowTestCreate = Type.Object(
  {
    ...experimentCreateFields(shadow.noun),
    comparison: optionalNullable(InstancePair),
    comparisons: optionalNullable(
      mapSchema(
        Type.Array(idReferenceSchema<string>('A candidate instance.'), {
          minItems: 1,
          maxItems: SHADOW_CANDIDATES_MAX,
          description: `The candidates, 1 to ${SHADOW_CANDIDATES_MAX}, without duplicates.`,
        }),
        'The form of the published clients: one baseline with a list of candidates. Give either this or `comparison`.',
      ),
    ),
    start_events: optionalNullable(
      Type.Object(
        {
          time: optionalNullable(
            timestampSchema(
              `Time from which to copy runs. A test that you start earlier waits for it; a test that you start later begins at once. ${zeroTime}`,
            ),
          ),
        },
        { description: 'Condition that begins copying after the start. The default is at once.' },
      ),
    ),
    termination_events: TerminationEventsCreate,
    sample_share: optionalNullable(
      Type.Number({
        minimum: 0.0001,
        maximum: 1,
        description:
          'Share of the runs of the baseline to copy, 0.0001 to 1, drawn at random. With a share, `maximum_runs` lasts for the whole window instead of its first hours. The default is 1. Beyond the specification.',
      }),
    ),
    cluster_by: optionalNullable(originalClusterBySchema),
    ...comparisonSettingsFields,
  },
  { $id: 'ShadowTestCreate', additionalProperties: false, description: 'The shadow test to create.' },
);
export type ShadowTestCreate = Static<typeof ShadowTestCreate>;

const metadataFields = {
  ...experimentFields(shadow.noun),
  started_at: Type.Optional(timestampSchema('Start time; absent before')),
  completed_at: Type.Optional(timestampSchema('End time; absent before')),
  comparison: InstancePair,
  comparisons: Type.Array(
    Type.Object(
      {
        baseline_instance_id: Type.String({ description: 'The baseline.' }),
        candidate_instance_ids: Type.Array(Type.String(), { description: 'The candidates.' }),
      },
      { description: 'A baseline with its candidates.' },
    ),
    {
      description: 'The same as `comparison`, in the form of the published clients, with all candidates.',
    },
  ),
  start_events: Type.Object(
    { time: Type.Optional(startEvents.time) },
    { description: 'Condition that begins copying; empty for at once.' },
  ),
  termination_events: Type.Object(
    {
      maximum_runs: Type.Integer({ description: 'Maximum number of copied baseline runs.' }),
      time: Type.Optional(
        timestampSchema('Only runs created before this time are copied; absent without a limit'),
      ),
    },
    { description: 'Conditions that end the test; the first one applies.' },
  ),
  stopped_early: Type.Boolean({
    description:
      'true if the test ended before its limit and before its end time; its verdicts are those that stay valid at any time. Beyond the specification.',
  }),
  sample_share: Type.Number({
    description: 'Share of the runs of the baseline that the test copies. Beyond the specification.',
  }),
  cluster_by: originalClusterBySchema,
  objectives: Objectives,
  ...comparisonSettingsResponse,
  ...experimentProgressFields,
};

const ShadowTestMetadata = Type.Object(metadataFields, {
  $id: 'ShadowTestMetadata',
  description: 'A shadow test without its results. Its run counts include the copies but not the originals.',
});

const ShadowTest = Type.Object(
  {
    ...metadataFields,
    grouped_distributional_summaries: Type.Array(GroupedSummary, {
      description:
        'Distributions of the copied originals and of their copies. The input of both is the id of the original.',
    }),
    decision: decisionField,
    question: questionField,
    compared: Type.Array(ComparedGroups, {
      description:
        'Comparison of each candidate with the baseline, by pairs of copy and original. It covers at most 50 indicators, those in `objectives` first. Beyond the specification.',
    }),
    refused_runs: Type.Array(RefusedRun, {
      description: `Copies that could not be created, at most ${REFUSED_RUNS_EMBEDDED_MAX}. Their input is the original.`,
    }),
    method: Type.String({ description: METHOD_DESCRIPTION }),
    warnings: Type.Array(Type.String(), {
      description:
        'Omitted statistics, sides whose runs have several versions, and fields of `cluster_by` with few values, in sentences.',
    }),
  },
  { $id: 'ShadowTest', description: 'A shadow test with its results so far.' },
);

export const StopIntent = Type.Object(
  {
    intent: optionalNullable(
      stringEnum(
        ['complete', 'cancel'],
        'complete: the results count; cancel: they do not. The default is complete.',
      ),
    ),
  },
  { $id: 'StopIntent', description: 'Reason for the stop.' },
);

const define = defineExperimentOperations(
  shadow,
  Type.Object({
    ...ApplicationParams.properties,
    shadow_id: idSchema<ExperimentId>('Id of the shadow test.'),
  }),
);

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
  stopped_early: false,
  sample_share: 1,
  cluster_by: ['caller'],
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

export const shadowOperations = {
  createShadowTest: define.create({
    description:
      'Creates a draft. Start it to begin copying. `comparison` or `comparisons` names the instances; `objectives` sets the direction of improvement of each indicator.',
    body: {
      schema: ShadowTestCreate,
      example: {
        id: 'faster-search',
        name: 'Faster search',
        comparison: { baseline_instance_id: 'production', candidate_instance_id: 'candidate' },
        termination_events: { maximum_runs: 100 },
      },
    },
    response: { description: 'The draft.', schema: ShadowTestMetadata, example: draft },
  }),
  listShadowTests: define.list({
    description: 'Lists the shadow tests of the application, without their results.',
    query: Type.Object({ ...PageQuery, ...WindowQuery }),
    response: { schema: pageOrArray(ShadowTestMetadata), example: [started] },
  }),
  getShadowTest: define.get(
    'Returns the test with its results, which cover the runs that have ended. The results of an ended test are stored, and stay when you delete its runs.',
    {
      schema: ShadowTest,
      example: {
        ...started,
        grouped_distributional_summaries: [],
        compared: [],
        refused_runs: [],
        method: ANALYSIS_METHOD,
        warnings: [],
      },
    },
  ),
  updateShadowTest: define.update(
    'Changes name and description in any status. You can send back the whole object. Another value of a field that this request cannot change returns 400.',
    {
      name: 'Faster search, second try',
      schema: ShadowTestMetadata,
      example: { ...started, name: 'Faster search, second try' },
    },
  ),
  deleteShadowTest: define.delete(
    describeDeletion(
      'Deletes the test with its results in any status. A started test ends.',
      [
        ['Its copies', 'Deleted. Running copies are stopped first.'],
        ['The runs of the baseline', 'Unaffected.'],
        ['The instances', 'Stay. You can start another test on the baseline.'],
      ],
      'You can reuse the id.',
    ),
  ),
  startShadowTest: define.start(
    'Starts a draft. The server copies runs of the baseline from now on, or from the time in `start_events`. An instance is the baseline of at most one started shadow or switchback test. While another test is started on it, the response is 400 and names that test. An ended test, and a test with a deleted instance, also return 400.',
  ),
  stopShadowTest: define.stop(
    'Ends a started test. `complete`: its status becomes completed at once. Earlier runs of the baseline are still copied up to the limit, and unfinished copies continue and count. `cancel`: its status becomes canceled, and unfinished copies are canceled. A repeated stop with the same intent changes nothing. A draft returns 400, and so does a test that ended with another intent.',
    { schema: StopIntent, example: { intent: 'complete' }, response: 'The test has ended.' },
  ),
  listShadowTestRuns: define.listRuns(
    'Lists the copies and the copied originals. The `run_type.reference_id` of a copy is its original.',
  ),
  getShadowTestMetadata: define.getMetadata('Returns the test without its results.', {
    schema: ShadowTestMetadata,
    example: started,
  }),
} as const;
