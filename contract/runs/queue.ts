/** The queue is what waits and what executes at this moment, over all applications of an account. */
import Type from 'typebox';
import { EXECUTION_CLASS_DEFAULT } from '../execution-classes.ts';
import { QUEUE_RUNS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { PageQuery, runsPage } from '../schemas/paging.ts';
import { ActiveRun } from './run-schemas.ts';

const runExample = {
  user_email: 'planner@example.com',
  name: '',
  description: '',
  status: 'running',
  application_id: 'routing',
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
  description: `Lists the queued and running runs of every application of the account: first those that run, then those that wait, in the order in which they are served: the lowest number of priority first, and of one priority the oldest. Execution classes that share slots are served in this one order; one that has slots of its own may be ahead of or behind the others. Each run that waits says why and which it is. Without paging at most ${QUEUE_RUNS_MAX} runs are answered, with a \`next_page_token\` when there are more. While you page, a run that starts keeps its place in the list, one that ends leaves it, and one that is given another priority moves.`,
  right: 'read',
  query: Type.Object(PageQuery),
  responses: {
    200: {
      description: 'The runs, in the order of service.',
      schema: runsPage(ActiveRun),
      example: {
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
            },
          },
        ],
      },
    },
  },
});
