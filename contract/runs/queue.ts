/** The queue lists the queued and running runs of all applications of an account. */
import Type from 'typebox';
import { EXECUTION_CLASS_DEFAULT } from '../execution-classes.ts';
import { QUEUE_RUNS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { PageQuery, runsPage } from '../schemas/paging.ts';
import { ActiveRun } from './run-schemas.ts';

const runExample = {
  user_email: 'planner@example.com',
  name: '',
  description: '',
  status: 'running',
  application_id: 'routing',
  application_name: 'Vehicle routing',
  application_instance_id: 'latest',
  application_version_id: '',
  execution_class: EXECUTION_CLASS_DEFAULT,
  queuing_priority: 6,
  queuing_disabled: false,
} as const;

export const getQueue = defineOperation({
  id: 'getQueue',
  method: 'GET',
  path: '/v1/account/queue',
  tag: 'runs',
  summary: 'Get the queue',
  description: `Lists the queued and running runs of every application of the account. Running runs come first, then queued runs in queue order: by priority, lowest number first, then oldest first. Execution classes that share slots share this order; a class with its own slots may be ahead or behind. Each queued run has a reason and a queue position, and where past runs allow it a predicted start. Without paging, the response has at most ${QUEUE_RUNS_MAX} runs, with a \`next_page_token\` if there are more. While you page, a run that starts stays in the list, a run that ends leaves it, and a run with a new priority moves.`,
  right: 'read',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The runs, in queue order.', runsPage(ActiveRun), {
    runs: [
      {
        ...runExample,
        id: 'run-01jd3v7k9mq2z5x8',
        status_v2: 'running',
        created_at: '2026-11-20T08:00:00.000Z',
        initiated_at: '2026-11-20T08:00:00.104Z',
        attempt: 1,
      },
      {
        ...runExample,
        id: 'run-01jd3v7mb4hw6c9e',
        status_v2: 'queued',
        created_at: '2026-11-20T08:00:01.000Z',
        attempt: 0,
        waiting: {
          place: 1,
          reason: 'slots_taken',
          message: `The only slot that serves execution class ${EXECUTION_CLASS_DEFAULT} is taken; this run is next.`,
          predicted_start: {
            earliest: '2026-11-20T08:00:21.300Z',
            latest: '2026-11-20T08:00:34.900Z',
          },
        },
      },
    ],
  }),
});
