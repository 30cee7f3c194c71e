/** Numbers about many runs: of one list, and of several applications. */
import Type, { type Static } from 'typebox';
import { COUNTED_RUNS_MAX, ID_CHARS_MAX, PAGE_ITEMS_MAX, RECENT_RUNS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { nullable, textSchema } from '../schemas/field-schemas.ts';
import { WindowQuery } from '../schemas/paging.ts';
import { FILTER_LIMITS, ProductionQuery, RunFilterQuery } from './run-filters.ts';
import { Run } from './run-schemas.ts';

const { sort: _, ...Filters } = RunFilterQuery;

const counted = (words: string) => Type.Integer({ description: `Counted runs ${words}.` });

const RunListCounts = Type.Object(
  {
    runs: Type.Integer({ description: `Counted runs: the newest, at most ${COUNTED_RUNS_MAX}.` }),
    is_complete: Type.Boolean({ description: 'false: more runs may match than were counted.' }),
    statuses: Type.Object(
      {
        none: counted('without a result'),
        queued: counted('that are queued'),
        running: counted('that are running'),
        succeeded: counted('that succeeded'),
        failed: counted('that failed'),
        canceled: counted('that were canceled'),
      },
      { description: 'The counted runs by status.' },
    ),
    median_execution_duration: nullable(
      Type.Number({
        description:
          'Median execution time of the counted runs that succeeded, in milliseconds; null for none.',
      }),
    ),
  },
  { $id: 'RunListCounts', description: 'The number of runs that match a filter.' },
);
export type RunListCounts = Static<typeof RunListCounts>;

export const countRuns = defineOperation({
  id: 'countRuns',
  method: 'GET',
  path: '/v1/applications/{application_id}/run-counts',
  tag: 'runs',
  summary: 'Count runs',
  description: `Counts the newest runs of the application that match a filter, by status. It stops after ${COUNTED_RUNS_MAX} runs or a fraction of a second. ${FILTER_LIMITS}`,
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({ ...WindowQuery, ...Filters, ...ProductionQuery }),
  responses: respond(200, 'The counts.', RunListCounts, {
    runs: 327,
    is_complete: true,
    statuses: { none: 0, queued: 4, running: 2, succeeded: 309, failed: 12, canceled: 0 },
    median_execution_duration: 41_200,
  }),
});

const RecentRun = Type.Pick(Run, ['id', 'status_v2', 'created_at', 'application_version_id', 'statistics'], {
  $id: 'RecentRun',
  description: 'A recent run, with the indicator that is the objective.',
});

const ApplicationSummary = Type.Object(
  {
    application_id: Type.String({ description: 'Id of the application.' }),
    name: Type.String({ description: 'Name of the application.' }),
    version_id: Type.String({
      description: 'Version of the default instance; empty when that is `latest` or does not exist.',
    }),
    version_deleted: Type.Optional(Type.Boolean({ description: 'true when that version is deleted.' })),
    runs: Type.Array(RecentRun, {
      description: `The latest ${RECENT_RUNS_MAX} production runs, newest first.`,
    }),
  },
  { $id: 'ApplicationSummary', description: 'What an application has done lately.' },
);
export type ApplicationSummary = Static<typeof ApplicationSummary>;

export const listApplicationSummaries = defineOperation({
  id: 'listApplicationSummaries',
  method: 'GET',
  path: '/v1/application-summaries',
  tag: 'applications',
  summary: 'List what applications have done lately',
  description:
    'Returns the latest production runs of several applications of the account, and the version of their default instances. An id that names no application is left out.',
  right: 'read',
  query: Type.Object({
    application_id: textSchema(
      `The ids of the applications, at most ${PAGE_ITEMS_MAX}, separated by commas.`,
      { min: 1, max: (ID_CHARS_MAX + 1) * PAGE_ITEMS_MAX },
    ),
  }),
  responses: respond(
    200,
    'The summaries, in the order of the ids.',
    Type.Object({ items: Type.Array(ApplicationSummary) }),
    {
      items: [
        {
          application_id: 'routing',
          name: 'Vehicle routing',
          version_id: 'v7',
          runs: [
            {
              id: 'run-01jd3v7k9mq2z5x8',
              status_v2: 'succeeded',
              created_at: '2026-11-20T08:00:00.000Z',
              application_version_id: 'v7',
              statistics: {
                status: 'success',
                error: '',
                indicators: [{ name: 'result.value', value: 1040.6 }],
              },
            },
          ],
        },
      ],
    },
  ),
});
