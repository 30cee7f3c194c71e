/** Search in the logs of runs, and the times of their lines. */
import Type, { type Static } from 'typebox';
import {
  LOG_EXCERPT_CHARS_MAX,
  LOG_LINE_BYTES_MAX,
  LOG_MATCHES_DEFAULT,
  LOG_MATCHES_MAX,
  LOG_SEARCH_BYTES_MAX,
  LOG_SEARCH_CHARS_MAX,
  LOG_SEARCH_ITEMS_DEFAULT,
  LOG_SEARCH_ITEMS_MAX,
  LOG_SEARCH_RUNS_MAX,
} from '../../limits.ts';
import { defineOperation, respond } from '../../operation.ts';
import { ApplicationParams } from '../../schemas/application-params.ts';
import { stringEnum, textSchema, timestampSchema } from '../../schemas/field-schemas.ts';
import { RUN_STATUSES_V2 } from '../../states.ts';
import { RunFilterQuery } from '../run-filters.ts';
import { RunParams } from '../runs.ts';
import { LEAST_LOG_LEVELS, LOG_LEVELS } from './log-levels.ts';

export const LogMatch = Type.Object(
  {
    line: Type.Integer({
      minimum: 1,
      description: 'Number of the line in the log, from 1: the same as in the response with the whole log.',
    }),
    timestamp: Type.Optional(
      timestampSchema('Time of the line. Absent when the server does not know it, as for external runs'),
    ),
    level: stringEnum(
      LOG_LEVELS,
      'Severity, read from words such as `warning` and `error`; info without any.',
    ),
    log: Type.String({
      description: `The line. Of one with more than ${LOG_EXCERPT_CHARS_MAX} characters, the part around the first match.`,
    }),
    truncated: Type.Boolean({ description: 'true: `log` is only a part of the line.' }),
  },
  { $id: 'LogMatch', description: 'A line of a log that a search found.' },
);
export type LogMatch = Static<typeof LogMatch>;

const TextQuery = {
  text: Type.Optional(
    textSchema(
      'Only lines that contain this text. Case does not matter, and no character has a special meaning.',
      { min: 1, max: LOG_SEARCH_CHARS_MAX },
    ),
  ),
  level: Type.Optional(stringEnum(LEAST_LOG_LEVELS, 'The least severity of the lines.')),
  pagetoken: Type.Optional(
    Type.String({ description: '`next_page_token` of the previous page of the same search.' }),
  ),
};

const NextPageToken = Type.Optional(
  Type.String({
    description:
      'Send it as `pagetoken` to search on. Absent when everything that is stored now was examined.',
  }),
);

const PAGES = `One request examines at most ${LOG_SEARCH_BYTES_MAX / 1024 / 1024} MiB of logs, so a page can have few items or none although more follow: read on until \`next_page_token\` is absent.`;

const LogMatches = Type.Object(
  {
    items: Type.Array(LogMatch, { description: 'The lines, in the order of the log.' }),
    next_page_token: NextPageToken,
  },
  { $id: 'LogMatches', description: 'Lines of a log.' },
);

const example: LogMatch = {
  line: 17,
  timestamp: '2026-11-20T08:00:00.412Z',
  level: 'warning',
  log: 'WARNING: time limit reached',
  truncated: false,
};

export const searchRunLog = defineOperation({
  id: 'searchRunLog',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/logs/search',
  tag: 'runs',
  summary: 'Search the log of a run',
  description: `Returns the lines of a log with their numbers and times, all or those that match, also while the run is active. ${PAGES} Of a line with more than ${LOG_LINE_BYTES_MAX / 1024} KiB, its first ${LOG_LINE_BYTES_MAX / 1024} KiB are searched.`,
  right: 'read',
  params: RunParams,
  query: Type.Object({
    ...TextQuery,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LOG_MATCHES_MAX,
        description: `Lines per page, at most ${LOG_MATCHES_MAX}. The default is ${LOG_MATCHES_DEFAULT}.`,
      }),
    ),
  }),
  responses: respond(200, 'The lines.', LogMatches, { items: [example] }),
});

const RunLogMatches = Type.Object(
  {
    run_id: Type.String({ description: 'Id of the run.' }),
    name: Type.String({ description: 'Name of the run.' }),
    status_v2: stringEnum(RUN_STATUSES_V2, 'Status of the run.'),
    created_at: timestampSchema('Time of creation'),
    lines: Type.Array(LogMatch, { description: 'The first lines that match.' }),
    has_more_lines: Type.Boolean({
      description: 'true: more lines may match; search the log of the run for them.',
    }),
  },
  { $id: 'RunLogMatches', description: 'Lines in the log of one run.' },
);
export type RunLogMatches = Static<typeof RunLogMatches>;

const ApplicationLogMatches = Type.Object(
  {
    items: Type.Array(RunLogMatches, { description: 'The runs with matching lines, newest first.' }),
    examined_runs: Type.Integer({ description: 'Runs whose logs this request examined.' }),
    unreadable_runs: Type.Integer({ description: 'Those of them whose stored log is damaged.' }),
    next_page_token: NextPageToken,
  },
  { $id: 'ApplicationLogMatches', description: 'Runs whose logs have matching lines.' },
);

const { status, instance_id, version_id, user_email, run_type, name } = RunFilterQuery;

export const searchLogs = defineOperation({
  id: 'searchLogs',
  method: 'GET',
  path: '/v1/applications/{application_id}/logs/search',
  tag: 'runs',
  summary: 'Search the logs of the runs of an application',
  description: `Returns the runs whose logs have a matching line, newest first, each with its first matching lines. Give \`text\`, \`level\` or both. ${PAGES} It examines at most ${LOG_SEARCH_RUNS_MAX} runs.`,
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({
    ...TextQuery,
    ...{ status, instance_id, version_id, user_email, run_type, name },
    created_after: Type.Optional(
      timestampSchema('Only runs created at or after this time; the default is a year before the end'),
    ),
    created_before: Type.Optional(timestampSchema('Only runs created before this time; the default is now')),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LOG_SEARCH_ITEMS_MAX,
        description: `Runs with matching lines per page, at most ${LOG_SEARCH_ITEMS_MAX}. The default is ${LOG_SEARCH_ITEMS_DEFAULT}.`,
      }),
    ),
  }),
  responses: respond(200, 'The runs with their lines.', ApplicationLogMatches, {
    items: [
      {
        run_id: 'run-1b9d6bcd',
        name: 'Monday',
        status_v2: 'succeeded',
        created_at: '2026-11-20T08:00:00Z',
        lines: [example],
        has_more_lines: false,
      },
    ],
    examined_runs: 12,
    unreadable_runs: 0,
  }),
});

const LogTimes = Type.Object(
  {
    start: Type.Optional(timestampSchema('Time of the first line, to the millisecond')),
    steps: Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }), {
      description:
        'Pairs `[milliseconds, lines]` in the order of the log: the time since the previous pair, for the first since `start`, and the number of lines with this time. Empty when the server does not know the times.',
    }),
  },
  { $id: 'LogTimes', description: 'The times of the lines of a log.' },
);

export const getRunLogTimes = defineOperation({
  id: 'getRunLogTimes',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/logs/times',
  tag: 'runs',
  summary: 'Get the times of the lines of a log',
  description:
    'Returns the time of each line of the log of a run that has ended. Before that, the response is 400: the lines of the live log have times. Times of very long logs are rounded to 100 ms or 1 s. External runs and runs that ended before the server stored times have none.',
  right: 'read',
  params: RunParams,
  responses: respond(200, 'The times.', LogTimes, {
    start: '2026-11-20T08:00:00.412Z',
    steps: [
      [0, 3],
      [250, 1],
    ],
  }),
});
