/** What those who run the server ask it: whether it lives, whether it is ready, and its numbers. */
import Type from 'typebox';
import { defineOperation } from '../operation.ts';
import { stringEnum } from '../schemas/field-schemas.ts';

const Health = Type.Object(
  { status: stringEnum(['ok'], 'The process answers.') },
  { $id: 'Health', description: 'That the process answers.' },
);

const Runtime = Type.Object(
  {
    available: Type.Boolean({ description: 'Whether the host can run it.' }),
    version: Type.String({ description: 'Its version; empty when it is missing.' }),
    missing: Type.String({ description: 'What is missing, else empty.' }),
  },
  { description: 'Whether apps of one executable type can run.' },
);

const Readiness = Type.Object(
  {
    status: stringEnum(['ready', 'not ready'], 'Whether requests and runs are served.'),
    reason: Type.String({ description: 'Why it is not ready, else empty.' }),
    version: Type.String({ description: 'Version of the API.' }),
    database: Type.String({ description: 'sqlite or postgres.' }),
    containment: Type.String({
      description: 'How apps are contained on this host: sandbox or limits; empty where none run.',
    }),
    containment_reason: Type.String({
      description: 'Why it is not stronger, and what apps can do because of that, else empty.',
    }),
    enforcement: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: Type.String(),
      description:
        'How the host holds apps to their limits on memory, cores, processes, disk space and the process tree; empty where no apps run.',
    }),
    not_held: Type.Array(Type.String(), {
      description:
        'A sentence for each thing that an app can do on this host although a limit says otherwise.',
    }),
    runtimes: Type.Unsafe<Record<string, { available: boolean; version: string; missing: string }>>({
      type: 'object',
      additionalProperties: Runtime,
      description: 'What the host can run, by executable type; empty where no apps run.',
    }),
  },
  { $id: 'Readiness', description: 'Whether the server is ready, and what its host can run.' },
);

export const getHealth = defineOperation({
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'service',
  summary: 'Is the process alive',
  description: 'Answers as long as the process does.',
  right: 'public',
  responses: { 200: { description: 'It is.', schema: Health, example: { status: 'ok' } } },
});

const readinessExample = {
  status: 'ready',
  reason: '',
  version: '1.7.0',
  database: 'sqlite',
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
  summary: 'Is the server ready',
  description:
    'Returns 200 when the database and the folders of the server take writes and the process is not shutting down, else 503 with the reason, such as a full disk or a damaged database. Lists what the host can run.',
  right: 'public',
  responses: {
    200: { description: 'It is.', schema: Readiness, example: readinessExample },
    503: {
      description: 'It is not, and why.',
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
  summary: 'Numbers for monitoring',
  description: 'Counters, gauges and histograms in the text format of Prometheus.',
  right: 'public',
  responses: {
    200: {
      description: 'The numbers.',
      contentType: 'text/plain',
      schema: Type.String(),
      example: '# TYPE switchyard_runs_total counter\nswitchyard_runs_total{status="succeeded"} 128\n',
    },
  },
});
