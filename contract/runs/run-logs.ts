/** Logs of a run: the whole log after it has ended, and new lines while it runs. */
import Type, { type Static } from 'typebox';
import { defineOperation, respond } from '../operation.ts';
import { stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import { RUN_STATUSES_V2 } from '../states.ts';
import { RunParams } from './runs.ts';

const RunLog = Type.Object(
  {
    log: Type.String({
      description:
        'The log of the app: stderr, and for multi-file apps stdout too. An ensemble run has the lines of its child runs by time, each prefixed with `<run group>/<run id> | `.',
    }),
  },
  { $id: 'RunLog', description: 'The whole log of a run.' },
);

export const LogItem = Type.Object(
  {
    timestamp: timestampSchema('Time of the line, to the microsecond'),
    log: Type.String({
      description: 'The line. In an ensemble run, with the prefix `<run group>/<run id> | `.',
    }),
  },
  { $id: 'LogItem', description: 'One line of a log.' },
);

export const LiveLog = Type.Object(
  {
    items: Type.Array(LogItem, { description: 'New lines.' }),
    next_page_token: Type.Optional(Type.String({ description: 'Send it as `since` in the next call.' })),
    status_v2: stringEnum(RUN_STATUSES_V2, 'Status of the run. With a terminal status, the log is complete.'),
    next_available_in_seconds: Type.Number({
      description:
        'Milliseconds to wait before the next call: at least 1 until the run has ended, and more when many callers follow logs.',
    }),
  },
  { $id: 'LiveLog', description: 'New log lines, and the token for the next call.' },
);
export type LiveLog = Static<typeof LiveLog>;

export const getRunLogs = defineOperation({
  id: 'getRunLogs',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/logs',
  tag: 'runs',
  summary: 'Get the log of a run',
  description:
    'Returns the whole log of a run that has ended. Before that, the response is 400: read the live log instead.',
  right: 'read',
  params: RunParams,
  responses: respond(200, 'The log.', RunLog, { log: 'improved to 1040.6 after 0.4 s\n' }),
});

export const getRunLiveLogs = defineOperation({
  id: 'getRunLiveLogs',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/logs/live',
  tag: 'runs',
  summary: 'Follow the log of a run',
  description:
    'Returns the lines since the token of the previous call, in order. Every line arrives before or with the terminal status. An ensemble run has the lines of its child runs, by time within a response. The server stores live logs for 24 hours.',
  right: 'read',
  readsContent: true,
  params: RunParams,
  query: Type.Object({
    since: Type.Optional(Type.String({ description: '`next_page_token` of the previous call.' })),
  }),
  responses: respond(200, 'New lines and the token for the next call.', LiveLog, {
    items: [{ timestamp: '2026-11-20T08:00:00.412803Z', log: 'improved to 1040.6 after 0.4 s' }],
    next_page_token: '1',
    status_v2: 'running',
    next_available_in_seconds: 1,
  }),
});
