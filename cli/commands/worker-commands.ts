/** Commands for workers and their tokens. */
import type { ResponseBody } from '@switchyard/contract/client.ts';
import type { Session } from '../session/session.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { age, count } from '../terminal/columns.ts';
import { formatFields } from '../terminal/table.ts';
import { defineCommand, type Parent } from './resource/define-command.ts';
import { defineResource, printToken } from './resource/define-resource.ts';

export const defineWorkerCommands = defineResource({
  name: 'workers',
  noun: 'worker',
  text: 'List and drain workers, and manage their tokens.',
  list: {
    operation: 'getWorkers',
    text: 'List the workers with their slots and runs.',
    columns: {
      WORKER: 'id',
      STATUS: {
        value: ({ status }) => status,
        tone: ({ status }) => (status === 'unresponsive' ? 'bad' : undefined),
      },
      HOST: 'host',
      VERSION: 'version',
      LABELS: ({ labels }) => labels.join(', '),
      SLOTS: ({ slots }) => slots.map(({ busy, slots: all }) => `${busy}/${all}`).join(' '),
      RUNS: { value: ({ runs, other_runs }) => runs.length + other_runs, isNumeric: true },
      HEARTBEAT: age('heartbeat_at'),
    },
    empty: 'No worker is connected.',
  },
  more: (workers, session) => {
    defineDrain(workers, session);
    defineCommand(workers, session, {
      name: 'provisioner',
      operation: 'getProvisioner',
      text: 'Print the workers that the server starts on a cluster, and why jobs do not run yet.',
      print: printProvisioner,
    });
    defineTokens(workers, session);
  },
});

function defineDrain(workers: Parent, session: Session): void {
  for (const [name, operation, done, text] of [
    ['drain', 'drainWorker', 'Draining', 'Drain a worker: it finishes its runs and starts no other.'],
    ['undrain', 'endWorkerDrain', 'Ended the drain of', 'Let a drained worker start runs again.'],
  ] as const)
    defineCommand(workers, session, {
      ...{ name, operation, text },
      arguments: { worker_id: ['<worker>', 'The id of the worker.'] },
      example: 'worker-01jd3v7k9mq2z5x8',
      print: ({ output }, body, { worker_id }) => {
        const id = String(worker_id);
        output.printSentence(body ?? { id }, `${done} ${cleanLine(id)}.`, id);
      },
    });
}

const defineTokens = defineResource({
  name: 'tokens',
  noun: 'token',
  text: 'List, create and revoke the tokens of remote workers.',
  list: {
    operation: 'getWorkerTokens',
    text: 'List the worker tokens with their last use.',
    columns: {
      TOKEN: 'id',
      NAME: 'name',
      APPLICATIONS: ({ applications }) => applications?.join(', ') ?? 'all',
      LABELS: ({ labels }) => labels?.join(', ') ?? 'any',
      WORKERS: count('workers'),
      'LAST USED': age('last_used_at'),
    },
    empty: 'The account has no worker tokens.',
  },
  create: {
    operation: 'createWorkerToken',
    text: 'Create a worker token, and print its text once.',
    arguments: { name: ['<name>', 'The name of the token.'] },
    options: {
      applications: ['<id...>', 'Only runs of these applications.'],
      labels: ['<label...>', 'The labels that its workers may offer.'],
      all_accounts: ['', 'Its workers execute the runs of all accounts.'],
    },
    example: '"Solver nodes" --labels gpu > token',
    print: printToken,
  },
  remove: {
    operation: 'revokeWorkerToken',
    words: ['revoke', 'Revoked'],
    text: 'Revoke a worker token. Its workers are removed and their runs are queued again.',
  },
});

function printProvisioner({ output }: Session, provisioner: ResponseBody<'getProvisioner'>): void {
  const { adapter, jobs, pending_reasons } = provisioner;
  output.print({
    json: provisioner,
    text: () =>
      adapter === 'none'
        ? 'The server starts no workers: no provisioner is configured.\n'
        : formatFields({
            cluster: adapter,
            workers: `${jobs.running} running, ${jobs.pending} pending, ${jobs.stopping} stopping, at most ${provisioner.max_workers}`,
            ...Object.fromEntries(
              pending_reasons.map(({ reason, jobs: count, is_blocked }) => [
                `pending: ${cleanLine(reason)}`,
                `${count} jobs${is_blocked ? ', blocked' : ''}`,
              ]),
            ),
            'failed starts': provisioner.failed_starts,
            'runs for no worker': provisioner.unservable_runs,
            'last error': provisioner.last_error,
            'next attempt': provisioner.retry_at,
            checked: provisioner.checked_at,
          }),
    quiet: () => adapter,
  });
}
