/** Logs of a run: whole after it has ended, line by line while it runs. */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../operation.ts';
import { stringEnum, timestamp } from '../schemas/field-schemas.ts';
import { RUN_STATUSES_V2 } from '../states.ts';
import { RunParams } from './runs.ts';

const RunLog = Type.Object(
  {
    log: Type.String({
      description:
        'What the app logged: stderr, for multi-file stdout too. Of an ensemble run, the lines of its child runs by time, each with `<run group>/<run id> | ` in front.',
    }),
  },
  { $id: 'RunLog', description: 'The whole log.' },
);

const LogItem = Type.Object(
  {
    timestamp: timestamp('When the line came, to the microsecond'),
    log: Type.String({
      description: 'The line. Of an ensemble run, with `<run group>/<run id> | ` in front.',
    }),
  },
  { $id: 'LogItem', description: 'One line of the log.' },
);

export const LiveLog = Type.Object(
  {
    items: Type.Array(LogItem, { description: 'Lines that came since.' }),
    next_page_token: Type.Optional(Type.String({ description: 'Hand it back as `since`.' })),
    status_v2: stringEnum(
      RUN_STATUSES_V2,
      'The status of the run. With a terminal one the lines are complete.',
    ),
    next_available_in_seconds: Type.Number({
      description:
        'When to ask again; at least 1 while the run has not ended, and more when a great many follow logs.',
    }),
  },
  { $id: 'LiveLog', description: 'Lines of the log and where to go on.' },
);
export type LiveLog = Static<typeof LiveLog>;

export const getRunLogs = defineOperation({
  id: 'getRunLogs',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/logs',
  tag: 'runs',
  summary: 'Get the log of a run',
  description:
    'Answers the whole log of a run that has ended; while it has not, the answer is 400 and the live log is the one to read.',
  right: 'read',
  params: RunParams,
  responses: {
    200: { description: 'The log.', schema: RunLog, example: { log: 'improved to 1040.6 after 0.4 s\n' } },
  },
  errors: [400, 404],
});

export const getRunLiveLogs = defineOperation({
  id: 'getRunLiveLogs',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/logs/live',
  tag: 'runs',
  summary: 'Follow the log of a run',
  description:
    'Answers the lines that came since the token of the call before, in order. Every line is delivered before or with the terminal status. The log of an ensemble run has the lines of its child runs, in the order of time within a response. Kept for 24 hours.',
  right: 'read',
  params: RunParams,
  query: Type.Object({
    since: Type.Optional(Type.String({ description: '`next_page_token` of the call before.' })),
  }),
  responses: {
    200: {
      description: 'Lines and where to go on.',
      schema: LiveLog,
      example: {
        items: [{ timestamp: '2026-11-20T08:00:00.412803Z', log: 'improved to 1040.6 after 0.4 s' }],
        next_page_token: '1',
        status_v2: 'running',
        next_available_in_seconds: 1,
      },
    },
  },
  errors: [404],
});
