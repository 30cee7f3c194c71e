/** Operations for those who run the server: liveness, readiness and metrics. */
import Type from 'typebox';
import { defineOperation, respond } from '../operation.ts';
import { stringEnum } from '../schemas/field-schemas.ts';

const Health = Type.Object(
  { status: stringEnum(['ok'], 'Status of the process.') },
  { $id: 'Health', description: 'Liveness of the process.' },
);

const Runtime = Type.Object(
  {
    available: Type.Boolean({ description: 'true if the host can run apps of this type.' }),
    version: Type.String({ description: 'Version of the interpreter or tool; empty when it is missing.' }),
    missing: Type.String({ description: 'Name of the missing tool; empty when it is available.' }),
  },
  { description: 'Availability of one executable type.' },
);

const Readiness = Type.Object(
  {
    status: stringEnum(['ready', 'not ready'], '`ready` when the server accepts requests and runs.'),
    reason: Type.String({ description: 'Why the server is not ready; empty when it is.' }),
    version: Type.String({ description: 'Version of the API.' }),
    database: Type.String({ description: 'Database: sqlite or postgres.' }),
    leads: Type.Boolean({
      description:
        'True while this server leads: it runs the background jobs of all servers on the database.',
    }),
    containment: Type.String({
      description: 'Containment of apps on this host: sandbox or limits; empty when it runs no apps.',
    }),
    containment_reason: Type.String({
      description:
        'Why containment is not stronger and which access apps have as a result; empty for the strongest.',
    }),
    enforcement: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: Type.String(),
      description:
        'Mechanism that enforces each limit: memory, cores, processes, disk space and the process tree. Empty when the host runs no apps.',
    }),
    not_held: Type.Array(Type.String(), {
      description: 'One sentence for each limit that this host cannot enforce.',
    }),
    runtimes: Type.Unsafe<Record<string, { available: boolean; version: string; missing: string }>>({
      type: 'object',
      additionalProperties: Runtime,
      description: 'Executable types that the host can run; empty when it runs no apps.',
    }),
  },
  { $id: 'Readiness', description: 'Readiness of the server, and the capabilities of its host.' },
);

export const getHealth = defineOperation({
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'service',
  summary: 'Check liveness',
  description: 'Returns 200 while the process responds.',
  right: 'public',
  responses: respond(200, 'The process responds.', Health, { status: 'ok' }),
});

const readinessExample = {
  status: 'ready',
  reason: '',
  version: '1.7.0',
  database: 'sqlite',
  leads: true,
  containment: 'sandbox',
  containment_reason: '',
  enforcement: {
    memory: 'cgroup v2 memory.max, and RLIMIT_DATA one GiB above the limit',
    cores: 'cgroup v2 cpu.max',
    processes: 'cgroup v2 pids.max, RLIMIT_NPROC, watchdog',
    disk: 'a file system of its own for each run (ext4 on a loop device), and a watchdog',
    tree: 'pid namespace',
  },
  not_held: [],
  runtimes: { node: { available: true, version: '26.10.0', missing: '' } },
};

export const getReadiness = defineOperation({
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'service',
  summary: 'Check readiness',
  description:
    'Returns 200 when the database and the folders of the server accept writes and the process is not shutting down. Returns 503 with the reason otherwise, such as a full disk or a damaged database. The response lists the capabilities of the host.',
  right: 'public',
  responses: {
    200: { description: 'The server is ready.', schema: Readiness, example: readinessExample },
    503: {
      description: 'The server is not ready; `reason` says why.',
      schema: Readiness,
      example: { ...readinessExample, status: 'not ready', reason: 'The server is shutting down.' },
    },
  },
});

export const getMetrics = defineOperation({
  id: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  tag: 'service',
  summary: 'Get metrics',
  description:
    'Returns counters, gauges and histograms in the text format of Prometheus. The metrics by application need the token of root, or of any member while the server has one account: they name accounts and applications.',
  right: 'public',
  optionalToken: true,
  responses: {
    200: {
      description: 'The metrics.',
      contentType: 'text/plain',
      schema: Type.String(),
      example: '# TYPE switchyard_runs_total counter\nswitchyard_runs_total{status="succeeded"} 128\n',
    },
  },
  errors: [401, 403, 429],
});
