/**
 * A switchback test tries a candidate on live runs where runs cannot be tried one by one, because a decision changes what
 * the next one finds. Time is cut into units, and a plan drawn at random gives each to the baseline or to the candidate:
 * that instance serves every run that is made on the baseline in the unit. There are no copies: each run is the caller's.
 */

import Type, { type Static } from 'typebox';
import { SWITCHBACK_UNIT_MINUTES_MAX, SWITCHBACK_UNITS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { optionalNullable, timestamp } from '../schemas/field-schemas.ts';
import { type ExperimentId, idSchema } from '../schemas/ids.ts';
import { itemsPage, PageQuery, runsPage, WindowQuery } from '../schemas/paging.ts';
import {
  experimentCreateFields,
  experimentFields,
  experimentProgressFields,
  experimentUpdateFields,
} from './experiment-fields.ts';
import { GroupedSummary, Objectives, SwitchbackComparison } from './experiment-results.ts';
import { ExperimentRun } from './experiment-runs.ts';
import { InstancePair, StopIntent } from './shadow-tests.ts';

const NOUN = 'switchback test';

export const SwitchbackTestCreate = Type.Object(
  {
    ...experimentCreateFields(NOUN),
    comparison: InstancePair,
    generate_random_plan: Type.Object(
      {
        unit_duration_minutes: Type.Number({
          minimum: 1,
          maximum: SWITCHBACK_UNIT_MINUTES_MAX,
          description: `Length of each unit, 1 to ${SWITCHBACK_UNIT_MINUTES_MAX} minutes; fractions such as 1.5 are rounded to milliseconds.`,
        }),
        units: Type.Integer({
          minimum: 1,
          maximum: SWITCHBACK_UNITS_MAX,
          description: `How many units there are, 1 to ${SWITCHBACK_UNITS_MAX}.`,
        }),
        start: optionalNullable(
          timestamp(
            'When the first unit begins; a test that is started later has lost the units before. Absent, or the zero time 0001-01-01T00:00:00Z: when the test is started',
          ),
        ),
      },
      {
        description:
          'The plan to draw: each unit is given to the baseline or to the candidate with equal chances, independently of the others.',
      },
    ),
    objectives: optionalNullable(Objectives),
  },
  { $id: 'SwitchbackTestCreate', additionalProperties: false, description: 'The switchback test to make.' },
);
export type SwitchbackTestCreate = Static<typeof SwitchbackTestCreate>;

const SwitchbackTestUpdate = Type.Object(experimentUpdateFields(NOUN), {
  $id: 'SwitchbackTestUpdate',
  description: 'What can be changed; other fields are ignored.',
});

const Plan = Type.Object(
  {
    start: Type.Optional(
      timestamp('When unit 0 begins; absent for a draft whose plan begins when it is started'),
    ),
    units: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ description: 'Which unit, from 0.' }),
          duration_minutes: Type.Number({ description: 'Its length.' }),
          instance_id: Type.String({ description: 'The instance that serves its runs.' }),
        },
        { description: 'A unit.' },
      ),
      { description: 'The units, one right after the other.' },
    ),
    seed: Type.String({
      description: 'What the instances were drawn from. Beyond the specification.',
    }),
  },
  { $id: 'SwitchbackPlan', description: 'Which instance serves when.' },
);

const shown = {
  ...experimentFields(NOUN),
  started_at: Type.Optional(timestamp('When it was started; absent before')),
  completed_at: Type.Optional(timestamp('When it was over; absent before')),
  comparison: InstancePair,
  objectives: Objectives,
  ...experimentProgressFields,
};

const SwitchbackTestMetadata = Type.Object(
  { ...shown, plan: Plan },
  {
    $id: 'SwitchbackTestMetadata',
    description: 'A switchback test without its results. Its runs are those it has sent to an instance.',
  },
);

const SwitchbackTest = Type.Object(
  {
    ...shown,
    plan: Plan,
    grouped_distributional_summaries: Type.Array(GroupedSummary, {
      description: 'Distributions over the runs of each instance.',
    }),
    compared: Type.Array(SwitchbackComparison, {
      description:
        'The candidate against the baseline by indicator, over the units that are over; for at most 50 indicators, those that `objectives` names first. Beyond the specification.',
    }),
    warnings: Type.Array(Type.String(), {
      description: 'What was left out of the numbers, and sides that are of several versions, in sentences.',
    }),
  },
  { $id: 'SwitchbackTest', description: 'A switchback test with what it has found so far.' },
);

const SwitchbackParams = Type.Object({
  ...ApplicationParams.properties,
  switchback_id: idSchema<ExperimentId>('Id of the switchback test.'),
});

const ROOT = '/v1/applications/{application_id}/experiments/switchback';
const common = {
  tag: 'switchback-tests',
  right: 'experiment',
  params: SwitchbackParams,
  errors: [404],
} as const;

const draft = {
  id: 'earlier-dispatch',
  app_id: 'routing',
  name: 'Earlier dispatch',
  description: '',
  status: 'draft',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
  comparison: { baseline_instance_id: 'production', candidate_instance_id: 'candidate' },
  objectives: {},
  number_of_requested_runs: 0,
  number_of_runs: 0,
  number_of_completed_runs: 0,
  number_of_failed_runs: 0,
  plan: {
    units: [
      { index: 0, duration_minutes: 30, instance_id: 'candidate' },
      { index: 1, duration_minutes: 30, instance_id: 'production' },
    ],
    seed: 'seed-01jd3v7k9mq2z5x8',
  },
} as const;
const started = {
  ...draft,
  status: 'started',
  started_at: '2026-11-20T08:01:00.000Z',
  updated_at: '2026-11-20T08:01:00.000Z',
  plan: { ...draft.plan, start: '2026-11-20T08:01:00.000Z' },
} as const;

export const createSwitchbackTest = defineOperation({
  ...common,
  id: 'createSwitchbackTest',
  method: 'POST',
  path: ROOT,
  summary: 'Create a switchback test',
  description:
    'Makes a draft and draws its plan, which is shown and does nothing until the test is started. What the indicators of the runs are compared by is said in `objectives`.',
  params: ApplicationParams,
  body: {
    schema: SwitchbackTestCreate,
    example: {
      id: 'earlier-dispatch',
      name: 'Earlier dispatch',
      comparison: { baseline_instance_id: 'production', candidate_instance_id: 'candidate' },
      generate_random_plan: { unit_duration_minutes: 30, units: 2 },
    },
  },
  responses: {
    201: { description: 'The draft with its plan.', schema: SwitchbackTestMetadata, example: draft },
  },
});

export const listSwitchbackTests = defineOperation({
  ...common,
  id: 'listSwitchbackTests',
  method: 'GET',
  path: ROOT,
  summary: 'List switchback tests',
  description: 'Lists the switchback tests of the application, without their results.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({ ...PageQuery, ...WindowQuery }),
  responses: {
    200: {
      description: 'The switchback tests, newest first.',
      schema: itemsPage(SwitchbackTestMetadata),
      example: { items: [started] },
    },
  },
});

export const getSwitchbackTest = defineOperation({
  ...common,
  id: 'getSwitchbackTest',
  method: 'GET',
  path: `${ROOT}/{switchback_id}`,
  summary: 'Get a switchback test',
  description:
    'Answers the test with its results. While it goes on they are those of the units that are over; of a test that is over they are kept, also when its runs are deleted.',
  right: 'read',
  responses: {
    200: {
      description: 'The switchback test.',
      schema: SwitchbackTest,
      example: { ...started, grouped_distributional_summaries: [], compared: [], warnings: [] },
    },
  },
});

export const updateSwitchbackTest = defineOperation({
  ...common,
  id: 'updateSwitchbackTest',
  method: 'PATCH',
  path: `${ROOT}/{switchback_id}`,
  summary: 'Update a switchback test',
  description:
    'Changes name and description, whatever the status. Other fields are ignored, so the whole object can be sent back.',
  body: { schema: SwitchbackTestUpdate, example: { name: 'Earlier dispatch, in winter' } },
  responses: {
    200: {
      description: 'The switchback test as it is now.',
      schema: SwitchbackTestMetadata,
      example: { ...started, name: 'Earlier dispatch, in winter' },
    },
  },
});

export const deleteSwitchbackTest = defineOperation({
  ...common,
  id: 'deleteSwitchbackTest',
  method: 'DELETE',
  path: `${ROOT}/{switchback_id}`,
  summary: 'Delete a switchback test',
  description: describeDeletion(
    'Deletes the test with its results, whatever its status; one that has started is over with that.',
    [
      ['Its runs', 'Stay, and no longer name the test or a unit of it.'],
      ['The instances', 'Stay, and another test can be started on the baseline.'],
    ],
    'The id can be taken again.',
  ),
  responses: { 204: { description: 'It is gone.' } },
});

export const startSwitchbackTest = defineOperation({
  ...common,
  id: 'startSwitchbackTest',
  method: 'PUT',
  path: `${ROOT}/{switchback_id}/start`,
  summary: 'Start a switchback test',
  description:
    'Starts a draft: runs that are made on the baseline are served by the instance of the unit that is on, to the millisecond. Without a start of its own the plan begins now. One test at a time can have the runs of an instance: while another shadow or switchback test is started on the same baseline, the answer is 400 and names it. So is one that is over, one whose plan has run out before, and one of whose instances was deleted.',
  responses: {
    204: { description: 'It is started.' },
    304: { description: 'It was started already; nothing is changed.' },
  },
});

export const stopSwitchbackTest = defineOperation({
  ...common,
  id: 'stopSwitchbackTest',
  method: 'PUT',
  path: `${ROOT}/{switchback_id}/stop`,
  summary: 'Stop a switchback test',
  description:
    'Ends a test that has started before its plan does; runs go to the baseline again. It needs no body and is completed then; with the intent `cancel` it is canceled. Runs that have not ended go on either way. Stopping it again with the same intent changes nothing; a draft, and one that ended otherwise, is a 400.',
  body: { schema: StopIntent, required: false, example: { intent: 'complete' } },
  responses: { 204: { description: 'It is over.' } },
});

export const listSwitchbackTestRuns = defineOperation({
  ...common,
  id: 'listSwitchbackTestRuns',
  method: 'GET',
  path: `${ROOT}/{switchback_id}/runs`,
  summary: 'List the runs of a switchback test',
  description: 'Lists the runs that the test has sent to an instance, each with its `plan_unit_index`.',
  right: 'read',
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The runs, newest first.', schema: runsPage(ExperimentRun), example: { runs: [] } },
  },
});

export const getSwitchbackTestMetadata = defineOperation({
  ...common,
  id: 'getSwitchbackTestMetadata',
  method: 'GET',
  path: `${ROOT}/{switchback_id}/metadata`,
  summary: 'Get the status of a switchback test',
  description: 'Answers the test without its results: what to ask for again and again.',
  right: 'read',
  responses: {
    200: { description: 'Status and progress.', schema: SwitchbackTestMetadata, example: started },
  },
});
