/**
 * The protocol between a server and its remote workers. Both are of the same release: the number of the protocol grows with
 * each change here, and a server refuses a worker with another number.
 */
import Type, { type Static } from 'typebox';
import { labelSchema } from '../applications/requirements.ts';
import { EXECUTION_CLASSES } from '../execution-classes.ts';
import {
  ACCOUNT_WORKERS_MAX,
  ATTEMPT_FILES_BYTES_MAX,
  FENCE_MAX,
  LABELS_MAX,
  LARGE_BODY_BYTES_MAX,
  SYNC_ATTEMPTS_MAX,
  SYNC_JOBS_MAX,
  TOKEN_WORKERS_MAX,
  WORKER_BODY_BYTES_MAX,
  WORKER_CORES_MAX,
  WORKER_SLOTS_MAX,
  WORKFLOWS_PER_WORKER_MAX,
} from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { countSchema, EXACT_INTEGERS, nullable, stringEnum } from '../schemas/field-schemas.ts';
import { idSchema, NAME_PATTERN, type RunId, type UploadId } from '../schemas/ids.ts';
import { AttemptEnd, LogBatch } from './attempt-schemas.ts';
import { WorkerJob } from './job-schemas.ts';

/** The version of this protocol. */
export const WORKER_PROTOCOL = 2;
/** A sync without instructions ends after this time. It is shorter than the idle time-out of usual proxies. */
export const SYNC_WAIT_MS = 5000;

const textSchema = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: NAME_PATTERN, description });
const slotsSchema = countSchema('Number of slots.', { max: WORKER_SLOTS_MAX });

const Registration = Type.Object(
  {
    version: textSchema(64, 'Release of the worker.'),
    host: textSchema(255, 'Host name of its machine.'),
    folder_id: textSchema(64, 'Id of its data folder, which it locks.'),
    containment: stringEnum(['sandbox', 'limits'], 'Level of isolation of its runs.'),
    slots: Type.Object(
      {
        shared: slotsSchema,
        per_class: Type.Partial(
          Type.Object(Object.fromEntries(EXECUTION_CLASSES.map((name) => [name, slotsSchema]))),
          { description: 'Slots by execution class.' },
        ),
      },
      { additionalProperties: false, description: 'Slots that classes share, and slots of single classes.' },
    ),
    resources: nullable(
      Type.Object(
        {
          cores: Type.Number({
            minimum: 0.01,
            maximum: WORKER_CORES_MAX,
            description: 'Cores for all runs together.',
          }),
          memory_bytes: countSchema('Memory for all runs together.', { min: 1 }),
        },
        {
          additionalProperties: false,
          description:
            'Null: the worker counts slots alone, and the limits of a class shrink to its machine.',
        },
      ),
    ),
    scratch_bytes: nullable(countSchema('Scratch disk in bytes.')),
    labels: Type.Array(labelSchema, { maxItems: LABELS_MAX, description: 'Labels that it offers.' }),
    job_id: nullable(textSchema(128, 'The job by which a provisioner started it.')),
  },
  { $id: 'WorkerRegistration', additionalProperties: false, description: 'A worker that starts.' },
);
export type WorkerRegistration = Static<typeof Registration>;

const Registered = Type.Object(
  { worker_id: Type.String({ description: 'Id of the worker.' }) },
  { $id: 'RegisteredWorker', description: 'The registered worker.' },
);

const AttemptKey = Type.Object(
  {
    run_id: idSchema<RunId>('Id of the run.'),
    fence: countSchema('Fencing token of the attempt.', { min: 1, max: FENCE_MAX }),
  },
  { $id: 'AttemptKey', additionalProperties: false, description: 'One attempt of a run.' },
);
export type AttemptKey = Static<typeof AttemptKey>;

const KnownAttempt = Type.Object(
  {
    ...AttemptKey.properties,
    state: stringEnum(
      ['running', 'waiting', 'ending'],
      'State of the attempt. `waiting`: a workflow that holds no slot. `ending`: its app has ended, or the worker ends it.',
    ),
  },
  { $id: 'KnownAttempt', additionalProperties: false, description: 'An attempt of a worker.' },
);

const SyncRequest = Type.Object(
  {
    attempts: Type.Array(KnownAttempt, {
      maxItems: SYNC_ATTEMPTS_MAX,
      description: 'Attempts that the worker executes or whose end is not stored yet.',
    }),
    free: Type.Array(
      Type.Object(
        {
          execution_classes: Type.Array(stringEnum(EXECUTION_CLASSES, 'Execution class.'), {
            maxItems: EXECUTION_CLASSES.length,
            description: 'Classes that share the slots.',
          }),
          slots: slotsSchema,
        },
        { additionalProperties: false, description: 'Free slots of some classes.' },
      ),
      { maxItems: EXECUTION_CLASSES.length, description: 'Slots that the worker can fill now.' },
    ),
    workflow_capacity: Type.Array(countSchema('Number of workflows.', { max: WORKFLOWS_PER_WORKER_MAX }), {
      maxItems: 16,
      description: 'Number of further workflows that the worker takes, by depth.',
    }),
    draining: Type.Boolean({ description: 'true: the worker knows that somebody drained it.' }),
    stopping: Type.Boolean({ description: 'true: the worker ends, and offers no slot.' }),
    wait_ms: Type.Integer({
      minimum: 0,
      maximum: SYNC_WAIT_MS,
      description:
        'Time to wait for instructions. A worker behind a proxy that closes idle connections waits less.',
    }),
  },
  { $id: 'WorkerSync', additionalProperties: false, description: 'State of a worker.' },
);
export type WorkerSync = Static<typeof SyncRequest>;

export const WorkerInstructions = Type.Object(
  {
    jobs: Type.Array(WorkerJob, {
      maxItems: SYNC_JOBS_MAX,
      description: 'Attempts that the worker executes now.',
    }),
    canceled: Type.Array(AttemptKey, {
      description: 'Attempts whose app must end: a cancel is requested, or the lease has expired.',
    }),
    slots_released: Type.Array(AttemptKey, {
      description: 'Workflows that wait for runs, and hold no slot.',
    }),
    draining: Type.Boolean({ description: 'true: somebody drained the worker.' }),
  },
  { $id: 'WorkerInstructions', description: 'Instructions for a worker.' },
);
export type WorkerInstructions = Static<typeof WorkerInstructions>;

const WorkerParams = Type.Object({ worker_id: Type.String({ description: 'Id of the worker.' }) });
const AttemptParams = Type.Object({
  worker_id: Type.String({ description: 'Id of the worker.' }),
  run_id: idSchema<RunId>('Id of the run.'),
  fence: Type.String({
    pattern: '^[1-9][0-9]{0,6}$',
    description: `Fencing token of the attempt: a whole number from 1 to ${FENCE_MAX}, without leading zeros.`,
  }),
});
const ATTEMPT_PATH = '/v1/workers/{worker_id}/runs/{run_id}/{fence}';

const exampleKey = { run_id: 'run-01jd3v7k9mq2z5x8', fence: 1 };

export const checkWorkerProtocol = defineOperation({
  id: 'checkWorkerProtocol',
  method: 'GET',
  path: '/v1/workers/protocol',
  tag: 'worker-protocol',
  summary: 'Check the version of a worker',
  description:
    'Checks that a worker speaks the protocol of the server. The error says how to update the worker. A worker calls this before any other operation.',
  right: 'work',
  query: Type.Object({
    protocol: Type.Integer({ ...EXACT_INTEGERS, description: 'Version of the protocol of the worker.' }),
  }),
  responses: respond(
    200,
    'The versions agree.',
    Type.Object(
      {
        protocol: Type.Integer({ description: 'Version of the protocol.' }),
        version: Type.String({ description: 'Release of the server.' }),
      },
      { $id: 'WorkerProtocol', description: 'The protocol of the server.' },
    ),
    { protocol: WORKER_PROTOCOL, version: '1.7.0' },
  ),
});

export const registerWorker = defineOperation({
  id: 'registerWorker',
  method: 'POST',
  path: '/v1/workers',
  tag: 'worker-protocol',
  summary: 'Register a worker',
  description: `Registers a remote worker. Earlier workers of the same data folder are removed, and their runs are queued again. A worker token can have ${TOKEN_WORKERS_MAX} workers at the same time, and an account ${ACCOUNT_WORKERS_MAX}.`,
  right: 'work',
  body: {
    schema: Registration,
    example: {
      version: '1.7.0',
      host: 'node-7',
      folder_id: 'folder-01jd3v7k9mq2z5x8',
      containment: 'sandbox',
      slots: { shared: 4, per_class: {} },
      resources: null,
      scratch_bytes: null,
      labels: ['gpu'],
      job_id: null,
    },
  },
  responses: respond(201, 'The worker.', Registered, { worker_id: 'worker-01jd3v7k9mq2z5x8' }),
});

export const syncWorker = defineOperation({
  id: 'syncWorker',
  method: 'POST',
  path: '/v1/workers/{worker_id}/sync',
  tag: 'worker-protocol',
  summary: 'Synchronise a worker with the server',
  description: `Stores a heartbeat of the worker, claims runs for its free slots, and returns instructions. Without any, the response comes after ${SYNC_WAIT_MS / 1000} s, or when the worker sends the next sync. An attempt that the request does not name although the worker holds its lease is sent again, because its first response was lost.`,
  right: 'work',
  waits: true,
  params: WorkerParams,
  body: {
    schema: SyncRequest,
    bytesMax: LARGE_BODY_BYTES_MAX,
    example: {
      attempts: [{ ...exampleKey, state: 'running' }],
      free: [{ execution_classes: [...EXECUTION_CLASSES], slots: 3 }],
      workflow_capacity: [16, 16, 16],
      draining: false,
      stopping: false,
      wait_ms: SYNC_WAIT_MS,
    },
  },
  responses: respond(200, 'Instructions for the worker.', WorkerInstructions, {
    jobs: [],
    canceled: [exampleKey],
    slots_released: [],
    draining: false,
  }),
});

export const leaveWorker = defineOperation({
  id: 'leaveWorker',
  method: 'DELETE',
  path: '/v1/workers/{worker_id}',
  tag: 'worker-protocol',
  summary: 'Remove a worker that ends',
  description: 'Removes the worker. Runs that it has not ended are queued again.',
  right: 'work',
  params: WorkerParams,
  responses: { 204: { description: 'The worker is removed.' } },
});

export const proveAttempt = defineOperation({
  id: 'proveAttempt',
  method: 'POST',
  path: `${ATTEMPT_PATH}/proof`,
  tag: 'worker-protocol',
  summary: 'Get the proof of a workflow',
  description:
    'Returns the proof that the proxy of the worker adds to the requests of the app of a workflow.',
  right: 'work',
  params: AttemptParams,
  body: {
    schema: Type.Object(
      {
        endpoint: Type.String({
          pattern: '^http://127\\.0\\.0\\.1:\\d{1,5}$',
          description: 'Address of the proxy for the app.',
        }),
      },
      { $id: 'ProofRequest', additionalProperties: false, description: 'The proxy that needs a proof.' },
    ),
    example: { endpoint: 'http://127.0.0.1:4747' },
  },
  responses: respond(
    200,
    'The proof.',
    Type.Object(
      { proof: Type.String({ description: 'Value of the header.' }) },
      { $id: 'Proof', description: 'The proof of a workflow.' },
    ),
    { proof: 'http://127.0.0.1:4747 q1Zb…' },
  ),
});

export const writeAttemptLog = defineOperation({
  id: 'writeAttemptLog',
  method: 'POST',
  path: `${ATTEMPT_PATH}/log`,
  tag: 'worker-protocol',
  summary: 'Write log lines of an attempt',
  description: 'Stores lines and points of an attempt once, however often the request arrives.',
  right: 'work',
  params: AttemptParams,
  body: {
    schema: LogBatch,
    bytesMax: WORKER_BODY_BYTES_MAX,
    example: {
      chunks: [{ seq: 100_000_001, at: 1_763_625_600_000, lines: [[1_763_625_600_000_000, 'solved']] }],
      series: { replacement: null, addition: null },
    },
  },
  responses: { 204: { description: 'The lines are stored.' } },
});

export const putAttemptFile = defineOperation({
  id: 'putAttemptFile',
  method: 'PUT',
  path: `${ATTEMPT_PATH}/files`,
  tag: 'worker-protocol',
  summary: 'Upload a result file of an attempt',
  description: `Stores a result file that is too large for the request that ends the attempt. The files of an attempt may have ${ATTEMPT_FILES_BYTES_MAX} bytes together, and they are removed when the attempt has ended.`,
  right: 'work',
  params: AttemptParams,
  body: {
    schema: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary', description: 'The file.' }),
    stream: true,
  },
  responses: respond(
    200,
    'The stored file.',
    Type.Object(
      { file_id: idSchema<UploadId>('Id of the file.') },
      { $id: 'AttemptFile', description: 'An uploaded result file.' },
    ),
    { file_id: 'upl-01jd3v7k9mq2z5x8' },
  ),
});

export const endAttempt = defineOperation({
  id: 'endAttempt',
  method: 'POST',
  path: `${ATTEMPT_PATH}/end`,
  tag: 'worker-protocol',
  summary: 'End an attempt',
  description:
    'Stores the end of an attempt: the result of the run, or the reason for which it is queued again. An attempt whose lease has expired changes nothing.',
  right: 'work',
  params: AttemptParams,
  body: {
    schema: AttemptEnd,
    bytesMax: WORKER_BODY_BYTES_MAX,
    example: {
      outcome: { kind: 'lost', error: 'the launcher of the worker died.' },
      log: { batches: [], times: null },
      limits: null,
      runtime_version: null,
      start_conditions: null,
      secret_values: [],
      stopping: false,
    },
  },
  responses: respond(
    200,
    'The end is stored, or the lease had expired.',
    Type.Object(
      { stored: Type.Boolean({ description: 'false: the lease on the run had expired before.' }) },
      { $id: 'AttemptEnded', description: 'The stored end of an attempt.' },
    ),
    { stored: true },
  ),
});
