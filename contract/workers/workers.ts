/** Workers execute the runs of the server. They are shared by all of its accounts. */
import Type, { type Static } from 'typebox';
import { EXECUTION_CLASS_DEFAULT, EXECUTION_CLASSES } from '../execution-classes.ts';
import { HEARTBEAT_TIMEOUT_MS } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { nullable, stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import { type ApplicationId, idSchema, type RunId } from '../schemas/ids.ts';

/** The statuses of a worker. */
export const WORKER_STATUSES = ['active', 'draining', 'stopping', 'unresponsive'] as const;
export type WorkerStatus = (typeof WORKER_STATUSES)[number];

/** `process` has the database; `remote` reaches the server by HTTPS alone. */
const WORKER_KINDS = ['process', 'remote'] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

const WorkerSlots = Type.Object(
  {
    execution_classes: Type.Array(stringEnum(EXECUTION_CLASSES, 'Execution class.'), {
      description: 'The execution classes that share the slots.',
    }),
    slots: Type.Integer({ description: 'Number of slots.' }),
    busy: Type.Integer({ description: 'Slots with a run, of any account.' }),
  },
  { $id: 'WorkerSlots', description: 'Slots of a worker that some execution classes share.' },
);
export type WorkerSlots = Static<typeof WorkerSlots>;

const WorkerRun = Type.Object(
  {
    run_id: idSchema<RunId>('Id of the run.'),
    application_id: idSchema<ApplicationId>('Id of the application.'),
    application_name: Type.String({ description: 'Name of the application.' }),
    execution_class: stringEnum(EXECUTION_CLASSES, 'Execution class of the run.'),
    started_at: timestampSchema('Start time of the run'),
  },
  { $id: 'WorkerRun', description: 'A run that a worker executes.' },
);
export type WorkerRun = Static<typeof WorkerRun>;

const Worker = Type.Object(
  {
    id: Type.String({ description: 'Id of the worker. A restart gives it another.' }),
    status: stringEnum(
      WORKER_STATUSES,
      `Status of the worker. With \`draining\`, somebody drained it: it finishes its runs and starts no other. With \`stopping\`, its process ends. With \`unresponsive\`, its last heartbeat is more than ${HEARTBEAT_TIMEOUT_MS / 1000} s old.`,
    ),
    host: Type.String({
      description: 'Host name of its machine; empty for a caller who does not manage the server.',
    }),
    kind: stringEnum(
      WORKER_KINDS,
      'Kind of the worker. A `process` is a process of the server with access to its database. A `remote` worker reaches the server by HTTPS alone.',
    ),
    version: Type.String({ description: 'Release of the worker.' }),
    started_at: timestampSchema('Start of the worker'),
    heartbeat_at: timestampSchema('Last heartbeat, by the clock of the worker'),
    draining_since: nullable(timestampSchema('When somebody drained it; null otherwise')),
    labels: Type.Array(Type.String(), {
      description:
        'Labels of the worker, such as `gpu` or `region=eu`. A run that requires labels starts only on a worker that has all of them.',
    }),
    cores: nullable(
      Type.Number({
        description: 'Cores for all of its runs together; null for a worker that counts slots alone.',
      }),
    ),
    memory_bytes: nullable(
      Type.Integer({
        description:
          'Memory for all of its runs together in bytes; null for a worker that counts slots alone.',
      }),
    ),
    slots: Type.Array(WorkerSlots, { description: 'Its slots. A worker that drains or stops offers none.' }),
    runs: Type.Array(WorkerRun, { description: 'The runs of this account that it executes, oldest first.' }),
    other_runs: Type.Integer({ description: 'Number of runs of other accounts that it executes.' }),
  },
  { $id: 'Worker', description: 'A process that executes runs.' },
);
export type Worker = Static<typeof Worker>;

const Workers = Type.Object(
  {
    items: Type.Array(Worker, { description: 'The workers, in the order of their start.' }),
    may_drain: Type.Boolean({ description: 'true if the caller may drain workers.' }),
  },
  { $id: 'Workers', description: 'The workers of the server.' },
);

const WorkerParams = Type.Object({ worker_id: Type.String({ description: 'Id of the worker.' }) });

const example = {
  id: 'worker-01jd3v7k9mq2z5x8',
  status: 'active',
  host: 'solver-1',
  kind: 'process',
  version: '1.7.0',
  started_at: '2026-11-20T06:00:00.000Z',
  heartbeat_at: '2026-11-20T08:00:00.000Z',
  draining_since: null,
  labels: ['gpu', 'region=eu'],
  cores: null,
  memory_bytes: null,
  slots: [{ execution_classes: [...EXECUTION_CLASSES], slots: 4, busy: 1 }],
  runs: [
    {
      run_id: 'run-01jd3v7k9mq2z5x8',
      application_id: 'routing',
      application_name: 'Vehicle routing',
      execution_class: EXECUTION_CLASS_DEFAULT,
      started_at: '2026-11-20T07:59:12.000Z',
    },
  ],
  other_runs: 0,
};

export const getWorkers = defineOperation({
  id: 'getWorkers',
  method: 'GET',
  path: '/v1/account/workers',
  tag: 'workers',
  summary: 'Get the workers',
  description:
    'Returns the workers of the server with their slots and runs. Of other accounts, it returns only the number of runs.',
  right: 'read',
  responses: respond(200, 'The workers.', Workers, { items: [example], may_drain: true }),
});

const DRAIN_RIGHTS =
  'Workers execute the runs of all accounts: on a server with several accounts, only root may do this.';

export const drainWorker = defineOperation({
  id: 'drainWorker',
  method: 'POST',
  path: '/v1/account/workers/{worker_id}/drain',
  tag: 'workers',
  summary: 'Drain a worker',
  description: `Drains the worker: it finishes its runs and starts no other. Queued runs wait for other workers. The drain lasts until you end it or the worker restarts. ${DRAIN_RIGHTS}`,
  right: 'run',
  params: WorkerParams,
  responses: respond(200, 'The worker.', Worker, {
    ...example,
    status: 'draining',
    draining_since: '2026-11-20T08:00:00.000Z',
  }),
});

export const endWorkerDrain = defineOperation({
  id: 'endWorkerDrain',
  method: 'DELETE',
  path: '/v1/account/workers/{worker_id}/drain',
  tag: 'workers',
  summary: 'End the drain of a worker',
  description: `Lets the worker start runs again. ${DRAIN_RIGHTS}`,
  right: 'run',
  params: WorkerParams,
  responses: respond(200, 'The worker.', Worker, example),
});
