/** The stream of a run: its status and its log lines, as server-sent events. */
import Type from 'typebox';
import { STREAM_MINUTES_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { eventSchema, ResumeHeaders, ResyncEvent } from '../schemas/event-schemas.ts';
import { stringEnum } from '../schemas/field-schemas.ts';
import { RUN_STATUSES_V2 } from '../states.ts';
import { LogItem } from './run-logs.ts';
import { RunSeries, RunSolve, SolverPhase } from './run-series.ts';
import { RunParams } from './runs.ts';

const RunEvent = Type.Union(
  [
    eventSchema(
      'status',
      {
        status_v2: stringEnum(RUN_STATUSES_V2, 'Status of the run. The stream ends with a terminal status.'),
      },
      'The first event, and each change of the status.',
    ),
    eventSchema('log', { items: Type.Array(LogItem, { description: 'New lines, in order.' }) }, 'New lines.'),
    eventSchema(
      'series',
      {
        reset: Type.Boolean({ description: 'true: these points replace all points before.' }),
        series: Type.Array(RunSeries, { description: 'Series with new points.' }),
        phases: Type.Array(SolverPhase, { description: 'New phases of solvers.' }),
        solves: Type.Array(RunSolve, { description: 'New solves, and those whose facts have changed.' }),
      },
      'New points of series from the log and the resources.',
    ),
    ResyncEvent,
  ],
  { $id: 'RunEvent', description: 'One event of the stream of a run.' },
);

export const streamRunEvents = defineOperation({
  id: 'streamRunEvents',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/events',
  tag: 'runs',
  summary: 'Stream the events of a run',
  description: `Sends the status, the log lines and the series of a run as they come, as server-sent events. Every line and point arrives before the terminal status, which ends the stream. With \`Last-Event-ID\` the stream continues after that event: no line is lost or repeated. The server ends a stream after ${STREAM_MINUTES_MAX} minutes, and when the client reads too slowly; connect again.`,
  right: 'read',
  params: RunParams,
  headers: ResumeHeaders,
  responses: {
    200: {
      description: 'Events with the fields `id`, `event` and `data`. The data is JSON.',
      schema: RunEvent,
      contentType: 'text/event-stream',
      example: {
        id: '100000001~100000000~running',
        event: 'log',
        data: '{"items":[{"timestamp":"2026-11-20T08:00:00.412803Z","log":"improved to 1040.6"}]}',
      },
    },
    204: { description: 'The run has ended, and `Last-Event-ID` is its last event.' },
  },
});
