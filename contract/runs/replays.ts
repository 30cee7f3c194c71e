/**
 * A replay executes an ended run again: the same executable, input, options, execution class and secrets collection. Once
 * it has ended, its output is compared with that of the original.
 */
import Type, { type Static } from 'typebox';
import { RUN_DESCRIPTION_CHARS_MAX, RUN_NAME_CHARS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import {
  nameTextSchema,
  nullable,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import { idSchema, type RunId } from '../schemas/ids.ts';
import { itemsPage, PageQuery } from '../schemas/paging.ts';
import { RUN_STATUSES_V2 } from '../states.ts';
import { RunCreated } from './run-schemas.ts';
import { RunParams } from './runs.ts';

/** How a replay compares with its original, from the strongest agreement to none. */
const REPLAY_AGREEMENTS = [
  'bytes_equal',
  'same_solution',
  'same_objective',
  'same_failure',
  'different',
] as const;
export type ReplayAgreement = (typeof REPLAY_AGREEMENTS)[number];

/** Reasons why two executions of the same program can differ. */
const REPLAY_CAUSES = [
  'host',
  'runtime',
  'containment',
  'wall_clock_limit',
  'threads',
  'secrets',
  'network',
  'randomness',
] as const;

const ReplayCause = Type.Object(
  {
    cause: stringEnum(REPLAY_CAUSES, 'Property in which the two executions can differ.'),
    observed: Type.Boolean({ description: 'true if it did differ; false if it can have differed.' }),
    description: Type.String({ description: 'The cause in a sentence, with the values of both runs.' }),
  },
  { $id: 'ReplayCause', description: 'A possible reason for a difference.' },
);
export type ReplayCause = Static<typeof ReplayCause>;

const ReplayDifference = Type.Object(
  {
    path: Type.String({
      description:
        'Place in the output as a JSON Pointer (RFC 6901), such as `/solution/routes/0`; in an archive, the path of a file.',
    }),
    original: nullable(
      Type.String({ description: 'Value in the original, abridged; null where the original has none.' }),
    ),
    replay: nullable(
      Type.String({ description: 'Value in the replay, abridged; null where the replay has none.' }),
    ),
  },
  { $id: 'ReplayDifference', description: 'A place at which the outputs differ.' },
);
export type ReplayDifference = Static<typeof ReplayDifference>;

export const ReplayComparison = Type.Object(
  {
    verdict: stringEnum(
      REPLAY_AGREEMENTS,
      'bytes_equal: the outputs have the same bytes. same_solution: the solutions are equal as JSON, in any order of keys, or the archives have equal files. same_objective: the solutions differ or the outputs have none, and `result.value` is equal within 1e-9 of its size. same_failure: both failed with the same error. different: none of these.',
    ),
    reason: Type.String({ description: 'The verdict in a sentence.' }),
    original_status: stringEnum(RUN_STATUSES_V2, 'Status of the original.'),
    replay_status: stringEnum(RUN_STATUSES_V2, 'Status of the replay.'),
    original_value: nullable(Type.Number({ description: '`result.value` of the original; null for none.' })),
    replay_value: nullable(Type.Number({ description: '`result.value` of the replay; null for none.' })),
    solution_compared: Type.Boolean({
      description:
        'false if the solutions were not compared: the outputs are text, are no valid archives, or are larger than 20 MB.',
    }),
    number_of_differences: Type.Integer({
      description:
        'Number of places at which the outputs differ. A value that only one of them has counts once.',
    }),
    differences: Type.Array(ReplayDifference, {
      description: 'The first 20 of these places, those in the solution first.',
    }),
    may_differ: Type.Array(ReplayCause, {
      description: 'Why the two executions can differ, observed causes first. Empty for equal bytes.',
    }),
    compared_at: timestampSchema('Time of the comparison'),
  },
  { $id: 'ReplayComparison', description: 'The comparison of a replay with its original.' },
);
export type ReplayComparison = Static<typeof ReplayComparison>;

const RunReplay = Type.Object(
  {
    run_id: idSchema<RunId>('Id of the replay, which is a run.'),
    original_run_id: idSchema<RunId>('Id of the original run.'),
    created_at: timestampSchema('Creation time of the replay'),
    user_email: Type.String({ description: 'E-mail address of the caller that created it.' }),
    status_v2: stringEnum(RUN_STATUSES_V2, 'Status of the replay.'),
    comparison: Type.Optional(ReplayComparison),
  },
  { $id: 'RunReplay', description: 'A replay; without `comparison` until it has ended and is compared.' },
);
export type RunReplay = Static<typeof RunReplay>;

export const replayRun = defineOperation({
  id: 'replayRun',
  method: 'POST',
  path: '/v1/applications/{application_id}/runs/{run_id}/replay',
  tag: 'runs',
  summary: 'Replay a run',
  description:
    'Creates a run with the executable, input, options, execution class and secrets collection of the original, as they were then: later changes to its instance or version do not count. The options include a seed, if the app takes one. The original has ended, and is neither external nor the run of an ensemble. The replay is always queued, belongs to no experiment, and names the original as `tracking.cloned_run_id`. The response is 400 when the executable is gone. The server removes an executable an hour after no version, application or unfinished run uses it.',
  right: 'run',
  params: RunParams,
  body: {
    schema: Type.Object(
      {
        name: optionalNullable(
          nameTextSchema('Name of the replay; by default that of the original.', { max: RUN_NAME_CHARS_MAX }),
        ),
        description: optionalNullable(
          textSchema('Description of the replay; by default that of the original.', {
            max: RUN_DESCRIPTION_CHARS_MAX,
          }),
        ),
      },
      { $id: 'RunReplayCreate', additionalProperties: false, description: 'The replay to create.' },
    ),
    example: { name: 'Replay of Monday’s plan' },
    required: false,
  },
  responses: respond(202, 'The replay is stored and queued.', RunCreated, { run_id: 'run-01jd3v9r2c6w8y4z' }),
});

export const listRunReplays = defineOperation({
  id: 'listRunReplays',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/replays',
  tag: 'runs',
  summary: 'List the replays of a run',
  description:
    'Lists the replays of a run, newest first, each with its comparison. The comparison follows the end of the replay within seconds. A deleted replay is omitted.',
  right: 'read',
  params: RunParams,
  query: Type.Object(PageQuery),
  responses: respond(200, 'The replays.', itemsPage(RunReplay), {
    items: [
      {
        run_id: 'run-01jd3v9r2c6w8y4z',
        original_run_id: 'run-01jd3v7k9mq2z5x8',
        created_at: '2026-11-20T09:00:00.000Z',
        user_email: 'planner@example.com',
        status_v2: 'succeeded',
        comparison: {
          verdict: 'same_objective',
          reason: 'The solutions differ, and result.value is 1040.6 in both.',
          original_status: 'succeeded',
          replay_status: 'succeeded',
          original_value: 1040.6,
          replay_value: 1040.6,
          solution_compared: true,
          number_of_differences: 1,
          differences: [{ path: '/solution/vehicles/0/route/2', original: '"depot"', replay: '"s3"' }],
          may_differ: [
            {
              cause: 'threads',
              observed: false,
              description:
                'The app may use 2 cores. Threads that finish in another order can lead to another solution.',
            },
          ],
          compared_at: '2026-11-20T09:00:02.400Z',
        },
      },
    ],
  }),
});
