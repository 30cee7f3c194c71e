/** The provisioner starts and stops workers on a cluster, as many as the queue needs. */
import Type, { type Static } from 'typebox';
import { defineOperation, respond } from '../operation.ts';
import { nullable, stringEnum, timestampSchema } from '../schemas/field-schemas.ts';

/** The adapters of the provisioner; `none` without one. */
export const PROVISIONER_ADAPTERS = ['none', 'command', 'slurm', 'kubernetes'] as const;

const Provisioner = Type.Object(
  {
    adapter: stringEnum(
      PROVISIONER_ADAPTERS,
      'The kind of cluster on which the provisioner starts workers; `none` without a provisioner.',
    ),
    max_workers: Type.Integer({
      description:
        'Maximum number of workers at the same time, including those that wait in the queue of the cluster.',
    }),
    idle_seconds: Type.Number({ description: 'A worker without a run for this time ends by itself.' }),
    jobs: Type.Object(
      {
        pending: Type.Integer({ description: 'Jobs that wait in the queue of the cluster or start.' }),
        running: Type.Integer({ description: 'Jobs whose worker runs.' }),
        stopping: Type.Integer({
          description: 'Jobs that received SIGTERM or a cancellation, and have not ended.',
        }),
      },
      { description: 'The jobs of workers on the cluster.' },
    ),
    pending_reasons: Type.Array(
      Type.Object(
        {
          reason: Type.String({
            description: 'The reason in the words of the cluster, such as `QOSMaxCpuPerUserLimit`.',
          }),
          jobs: Type.Integer({ description: 'The number of jobs with this reason.' }),
          since: timestampSchema('Time at which the oldest of these jobs was requested'),
          is_blocked: Type.Boolean({
            description:
              'true: the jobs cannot start until somebody changes the cluster or the settings. The server stops such a job after three minutes, and counts it as a failed start. false: they wait for their turn.',
          }),
        },
        { $id: 'PendingReason', description: 'The jobs that wait for one reason.' },
      ),
      {
        description:
          'Why jobs do not run yet, with blocking reasons first. Empty when the cluster names no reason, and for a caller who does not manage the server.',
      },
    ),
    failed_starts: Type.Integer({
      description:
        'Jobs that could not be submitted, were blocked for three minutes, or ended before their worker registered.',
    }),
    unservable_runs: Type.Integer({
      description:
        'Queued runs that no worker of the provisioner could execute: a worker has too few cores or too little memory for them, or lacks their labels.',
    }),
    last_error: nullable(
      Type.String({
        description:
          'The last error, until a worker registers; null without one, and for a caller who does not manage the server.',
      }),
    ),
    last_error_at: nullable(timestampSchema('Time of the last error; null without one')),
    retry_at: nullable(timestampSchema('Time before which no worker is started; null for none')),
    checked_at: nullable(timestampSchema('Time of the last list of jobs; null before the first')),
  },
  { $id: 'Provisioner', description: 'The workers that the server starts and stops itself.' },
);
export type Provisioner = Static<typeof Provisioner>;

export const getProvisioner = defineOperation({
  id: 'getProvisioner',
  method: 'GET',
  path: '/v1/account/provisioner',
  tag: 'workers',
  summary: 'Get the provisioner',
  description:
    'Returns the state of the provisioner, which starts workers on a cluster for queued runs and lets them end when they are idle.',
  right: 'read',
  responses: respond(200, 'The provisioner.', Provisioner, {
    adapter: 'slurm',
    max_workers: 20,
    idle_seconds: 300,
    jobs: { pending: 2, running: 4, stopping: 0 },
    pending_reasons: [
      {
        reason: 'QOSMaxCpuPerUserLimit',
        jobs: 2,
        since: '2026-11-20T07:58:00.000Z',
        is_blocked: false,
      },
    ],
    failed_starts: 0,
    unservable_runs: 0,
    last_error: null,
    last_error_at: null,
    retry_at: null,
    checked_at: '2026-11-20T08:00:00.000Z',
  }),
});
