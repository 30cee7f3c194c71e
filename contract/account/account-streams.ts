/** The stream of an account: changes of its runs, its queue and its experiments, as server-sent events. */
import Type, { type Static } from 'typebox';
import { STREAM_CHANGES_MAX, STREAM_MINUTES_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { eventSchema, ResumeHeaders, ResyncEvent } from '../schemas/event-schemas.ts';
import { stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import type { ApplicationId, ExperimentId, RunId } from '../schemas/ids.ts';
import { idSchema } from '../schemas/ids.ts';
import { EXPERIMENT_STATUSES, RUN_OWNER_TYPES, RUN_STATUSES_V2 } from '../states.ts';

export const RunChange = Type.Object(
  {
    application_id: idSchema<ApplicationId>('Id of the application.'),
    run_id: idSchema<RunId>('Id of the run.'),
    status_v2: stringEnum(RUN_STATUSES_V2, 'Status of the run after the change.'),
    at: timestampSchema('Time of the change'),
  },
  { $id: 'RunChange', description: 'A change of the status of a run.' },
);
export type RunChange = Static<typeof RunChange>;

export const ExperimentChange = Type.Object(
  {
    application_id: idSchema<ApplicationId>('Id of the application.'),
    experiment_id: idSchema<ExperimentId>('Id of the experiment.'),
    type: stringEnum(RUN_OWNER_TYPES, 'Type of the experiment.'),
    status: stringEnum(EXPERIMENT_STATUSES, 'Status of the experiment after the change.'),
  },
  { $id: 'ExperimentChange', description: 'A change of the status of an experiment.' },
);
export type ExperimentChange = Static<typeof ExperimentChange>;

const AccountEvent = Type.Union(
  [
    eventSchema(
      'runs',
      {
        changes: Type.Array(RunChange, { description: 'The last change of each run, in their order.' }),
        is_truncated: Type.Boolean({
          description: `true: more than ${STREAM_CHANGES_MAX} runs have changed. Read the lists again.`,
        }),
      },
      'Runs have changed. The first event has no changes: read the lists after it.',
    ),
    eventSchema('queue', {}, 'The queue has changed: read it again.'),
    eventSchema(
      'experiments',
      { changes: Type.Array(ExperimentChange, { description: 'The changes.' }) },
      'Experiments have started or ended. A continued stream does not repeat these events, nor those of an experiment that ended within two seconds.',
    ),
    ResyncEvent,
  ],
  { $id: 'AccountEvent', description: 'One event of the stream of an account.' },
);

export const streamAccountEvents = defineOperation({
  id: 'streamAccountEvents',
  method: 'GET',
  path: '/v1/account/events',
  tag: 'account',
  summary: 'Stream the events of the account',
  description: `Sends changes of runs, of the queue and of experiments as they happen, as server-sent events. With \`Last-Event-ID\` the stream continues after that event: no change of a run is lost or repeated. The server ends a stream after ${STREAM_MINUTES_MAX} minutes, and when the client reads too slowly; connect again.`,
  right: 'read',
  headers: ResumeHeaders,
  responses: {
    200: {
      description: 'Events with the fields `id`, `event` and `data`. The data is JSON.',
      schema: AccountEvent,
      contentType: 'text/event-stream',
      example: {
        id: '4711',
        event: 'runs',
        data: '{"changes":[{"application_id":"routing","run_id":"run-01jd3v7k9mq2z5x8","status_v2":"succeeded","at":"2026-11-20T08:00:02.104Z"}],"is_truncated":false}',
      },
    },
  },
});
