/**
 * A switchback test compares a candidate with a baseline on live runs whose decisions affect later runs. It divides
 * time into units and assigns each at random to the baseline or the candidate. That instance serves every run that
 * callers create on the baseline in the unit. There are no copies: each run is the caller's.
 */

import Type, { type Static } from 'typebox';
import { switchback } from '../experiment-types/switchback.ts';
import { SWITCHBACK_UNIT_MINUTES_MAX, SWITCHBACK_UNITS_MAX } from '../limits.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { optionalNullable, stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import { type ExperimentId, idSchema } from '../schemas/ids.ts';
import { itemsPage, PageQuery, WindowQuery } from '../schemas/paging.ts';
import { decisionField } from './comparisons/decisions.ts';
import { questionField } from './comparisons/questions.ts';
import { defineExperimentOperations } from './define-operations.ts';
import { experimentCreateFields, experimentFields, experimentProgressFields } from './experiment-fields.ts';
import {
  ANALYSIS_METHOD,
  METHOD_DESCRIPTION,
  SWITCHBACK_DESIGNS,
  SwitchbackComparison,
} from './experiment-results.ts';
import { refusalsField } from './experiment-runs.ts';
import { comparisonSettingsFields, comparisonSettingsResponse, Objectives } from './experiment-settings.ts';
import { GroupedSummary } from './grouped-summaries.ts';
import { InstancePair, StopIntent } from './shadow-tests.ts';

export const SwitchbackTestCreate = Type.Object(
  {
    ...experimentCreateFields(switchback.noun),
    comparison: InstancePair,
    generate_random_plan: Type.Object(
      {
        unit_duration_minutes: Type.Number({
          minimum: 1,
          maximum: SWITCHBACK_UNIT_MINUTES_MAX,
          description: `Length of each unit, 1 to ${SWITCHBACK_UNIT_MINUTES_MAX} minutes. Fractions such as 1.5 are rounded to milliseconds.`,
        }),
        units: Type.Integer({
          minimum: 1,
          maximum: SWITCHBACK_UNITS_MAX,
          description: `Number of units, 1 to ${SWITCHBACK_UNITS_MAX}.`,
        }),
        design: optionalNullable(
          stringEnum(
            SWITCHBACK_DESIGNS,
            'How coins decide the units. blocked (default): both instances serve the same hours equally often. independent: one coin for each unit. regular: one coin for every `carry_over_units` units. Beyond the specification.',
          ),
        ),
        carry_over_units: optionalNullable(
          Type.Integer({
            minimum: 0,
            maximum: SWITCHBACK_UNITS_MAX - 1,
            description:
              'Units after a switch that the instance before may still influence, so that they do not count. The default is 1. Beyond the specification.',
          }),
        ),
        burn_in_minutes: optionalNullable(
          Type.Number({
            minimum: 0,
            description:
              'Minutes at the start of each unit whose runs do not count; less than `unit_duration_minutes`. The default is 0. Beyond the specification.',
          }),
        ),
        start: optionalNullable(
          timestampSchema(
            'Start of the first unit. A test that you start later skips the units before. The default, also for the zero time 0001-01-01T00:00:00Z, is the start of the test',
          ),
        ),
      },
      {
        description:
          'The plan to generate. Each unit goes to the baseline or the candidate with equal probability; `design` decides which units share a coin.',
      },
    ),
    ...comparisonSettingsFields,
  },
  { $id: 'SwitchbackTestCreate', additionalProperties: false, description: 'The switchback test to create.' },
);
export type SwitchbackTestCreate = Static<typeof SwitchbackTestCreate>;

const Plan = Type.Object(
  {
    start: Type.Optional(
      timestampSchema('Start of unit 0; absent for a draft whose plan begins at the start of the test'),
    ),
    units: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ description: 'Number of the unit, from 0.' }),
          duration_minutes: Type.Number({ description: 'Length of the unit in minutes.' }),
          instance_id: Type.String({ description: 'The instance that serves the runs of the unit.' }),
        },
        { description: 'A unit.' },
      ),
      { description: 'The units, in order and without gaps.' },
    ),
    seed: Type.String({
      description: 'Seed of the random assignment. Beyond the specification.',
    }),
    design: stringEnum(SWITCHBACK_DESIGNS, 'Design of the plan. Beyond the specification.'),
    carry_over_units: Type.Integer({
      description: 'Units after a switch that do not count. Beyond the specification.',
    }),
    burn_in_minutes: Type.Number({
      description: 'Minutes at the start of each unit whose runs do not count. Beyond the specification.',
    }),
    redraws: Type.Integer({
      description:
        'Number of other plans for the same two instances since a plan of theirs ran to its end, counted at the creation and again at the start of the test. A choice between visible plans is a choice of the result. Beyond the specification.',
    }),
  },
  { $id: 'SwitchbackPlan', description: 'Assignment of instances to units of time.' },
);

const sharedFields = {
  ...experimentFields(switchback.noun),
  started_at: Type.Optional(timestampSchema('Start time; absent before')),
  completed_at: Type.Optional(timestampSchema('End time; absent before')),
  comparison: InstancePair,
  stopped_early: Type.Boolean({
    description: 'true if the test ended before the end of its plan. Beyond the specification.',
  }),
  objectives: Objectives,
  ...comparisonSettingsResponse,
  ...experimentProgressFields,
};

const SwitchbackTestMetadata = Type.Object(
  {
    ...sharedFields,
    plan: Plan,
    warnings: Type.Array(Type.String(), {
      description:
        'Reasons for which the plan cannot give a verdict, or makes it doubtful, in sentences. Beyond the specification.',
    }),
  },
  {
    $id: 'SwitchbackTestMetadata',
    description: 'A switchback test without its results. Its runs are those that it has routed.',
  },
);

const SwitchbackTest = Type.Object(
  {
    ...sharedFields,
    plan: Plan,
    grouped_distributional_summaries: Type.Array(GroupedSummary, {
      description: 'Distributions of the runs that each instance served.',
    }),
    decision: decisionField,
    question: questionField,
    compared: Type.Array(SwitchbackComparison, {
      description:
        'Comparison of the candidate with the baseline by indicator, over the ended units. It covers at most 50 indicators, those in `objectives` first. Beyond the specification.',
    }),
    ...refusalsField,
    method: Type.String({ description: METHOD_DESCRIPTION }),
    warnings: Type.Array(Type.String(), {
      description:
        'Doubts about the plan, omitted statistics, and sides whose runs have several versions, in sentences.',
    }),
  },
  { $id: 'SwitchbackTest', description: 'A switchback test with its results so far.' },
);

const define = defineExperimentOperations(
  switchback,
  Type.Object({
    ...ApplicationParams.properties,
    switchback_id: idSchema<ExperimentId>('Id of the switchback test.'),
  }),
);

/** Returns units of an hour, for one letter each: c for the candidate, p for production. */
function listExampleUnits(letters: string) {
  return [...letters].map((letter, index) => ({
    index,
    duration_minutes: 60,
    instance_id: letter === 'c' ? 'candidate' : 'production',
  }));
}

const draft = {
  id: 'earlier-dispatch',
  app_id: 'routing',
  name: 'Earlier dispatch',
  description: '',
  status: 'draft',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
  comparison: { baseline_instance_id: 'production', candidate_instance_id: 'candidate' },
  objectives: { 'result.value': 'minimize' },
  number_of_requested_runs: 0,
  number_of_runs: 0,
  number_of_completed_runs: 0,
  number_of_failed_runs: 0,
  stopped_early: false,
  warnings: [],
  plan: {
    units: listExampleUnits('ccppccppppccppccccpp'),
    seed: 'seed-01jd3v7k9mq2z5x8',
    design: 'blocked',
    carry_over_units: 1,
    burn_in_minutes: 0,
    redraws: 0,
  },
} as const;
const started = {
  ...draft,
  status: 'started',
  started_at: '2026-11-20T08:01:00.000Z',
  updated_at: '2026-11-20T08:01:00.000Z',
  plan: { ...draft.plan, start: '2026-11-20T08:01:00.000Z' },
} as const;

export const switchbackOperations = {
  createSwitchbackTest: define.create({
    description:
      'Creates a draft and generates its plan. Start the test to apply the plan. `objectives` sets the direction of improvement of each indicator. `warnings` says if the plan is too short for a verdict. A request with `primary`, `guardrails`, or settings of a design or an objective gets a 400 instead.',
    body: {
      schema: SwitchbackTestCreate,
      example: {
        id: 'earlier-dispatch',
        name: 'Earlier dispatch',
        comparison: { baseline_instance_id: 'production', candidate_instance_id: 'candidate' },
        objectives: { 'result.value': 'minimize' },
        generate_random_plan: { unit_duration_minutes: 60, units: 20 },
      },
    },
    response: { description: 'The draft with its plan.', schema: SwitchbackTestMetadata, example: draft },
  }),
  listSwitchbackTests: define.list({
    description: 'Lists the switchback tests of the application, without their results.',
    query: Type.Object({ ...PageQuery, ...WindowQuery }),
    response: { schema: itemsPage(SwitchbackTestMetadata), example: { items: [started] } },
  }),
  getSwitchbackTest: define.get(
    'Returns the test with its results, which cover the ended units. The results of an ended test are stored, and stay when you delete its runs.',
    {
      schema: SwitchbackTest,
      example: {
        ...started,
        grouped_distributional_summaries: [],
        compared: [],
        refusals: [],
        method: ANALYSIS_METHOD,
        warnings: [],
      },
    },
  ),
  updateSwitchbackTest: define.update(
    'Changes name and description in any status. You can send back the whole object. Another value of a field that this request cannot change returns 400.',
    {
      name: 'Earlier dispatch, in winter',
      schema: SwitchbackTestMetadata,
      example: { ...started, name: 'Earlier dispatch, in winter' },
    },
  ),
  deleteSwitchbackTest: define.delete(
    describeDeletion(
      'Deletes the test with its results in any status. A started test ends.',
      [
        ['Its runs', 'Stay, without their reference to the test and its unit.'],
        ['The instances', 'Stay. You can start another test on the baseline.'],
      ],
      'You can reuse the id.',
    ),
  ),
  startSwitchbackTest: define.start(
    'Starts a draft. The instance of the current unit, to the millisecond, serves the runs that callers create on the baseline. Without a `start`, the plan begins now. An instance is the baseline of at most one started shadow or switchback test. While another test is started on it, the response is 400 and names that test. An ended test, a test whose plan is over, and a test with a deleted instance also return 400.',
  ),
  stopSwitchbackTest: define.stop(
    'Ends a started test before the end of its plan; the baseline serves its runs again. The test has `stopped_early`, and its verdicts are those that stay valid at any time. Without a body, the status becomes completed; with the intent `cancel`, it becomes canceled. Unfinished runs continue in both cases. A repeated stop with the same intent changes nothing. A draft returns 400, and so does a test that ended with another intent.',
    { schema: StopIntent, example: { intent: 'complete' }, response: 'The test has ended.' },
  ),
  listSwitchbackTestRuns: define.listRuns(
    'Lists the runs that the test has routed, each with its `plan_unit_index`. A run that the candidate refused has `candidate_refused`.',
  ),
  getSwitchbackTestMetadata: define.getMetadata('Returns the test without its results.', {
    schema: SwitchbackTestMetadata,
    example: started,
  }),
} as const;
