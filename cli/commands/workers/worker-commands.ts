/** Commands for workers and their tokens. */
import type { Command } from '@commander-js/extra-typings';
import type { Provisioner } from '@switchyard/contract/workers/provisioner.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { formatFields } from '../../terminal/table.ts';

/** Defines `workers` with its commands. */
export function defineWorkerCommands(program: Command, session: Session): void {
  const workers = program.command('workers').description('List and drain workers, and manage their tokens.');
  workers
    .command('list', { isDefault: true })
    .description('List the workers with their slots and runs.')
    .addHelpText('after', '\nExample:\n  switchyard workers list')
    .action(() => printWorkers(session));
  for (const [name, operation, description] of [
    ['drain', 'drainWorker', 'Drain a worker: it finishes its runs and starts no other.'],
    ['undrain', 'endWorkerDrain', 'Let a drained worker start runs again.'],
  ] as const)
    workers
      .command(name)
      .description(description)
      .argument('<worker>', 'The id of the worker.')
      .addHelpText('after', `\nExample:\n  switchyard workers ${name} worker-01jd3v7k9mq2z5x8`)
      .action(async (worker_id) => {
        const { body } = await session.connect().call(operation, { params: { worker_id } });
        session.output.print({
          json: body ?? { id: worker_id },
          text: () => `${name === 'drain' ? 'Draining' : 'Ended the drain of'} ${cleanLine(worker_id)}.\n`,
          quiet: () => worker_id,
        });
      });
  workers
    .command('provisioner')
    .description('Print the workers that the server starts on a cluster, and why jobs do not run yet.')
    .addHelpText('after', '\nExample:\n  switchyard workers provisioner')
    .action(async () => printProvisioner(session, (await session.connect().call('getProvisioner')).body));
  defineTokens(workers, session);
}

function defineTokens(workers: Pick<Command, 'command'>, session: Session): void {
  const tokens = workers
    .command('tokens')
    .description('List, create and revoke the tokens of remote workers.');
  tokens
    .command('list', { isDefault: true })
    .description('List the worker tokens with their last use.')
    .addHelpText('after', '\nExample:\n  switchyard workers tokens list')
    .action(() => printTokens(session));
  tokens
    .command('create')
    .description('Create a worker token, and print its text once.')
    .argument('<name>', 'The name of the token.')
    .option('--applications <id...>', 'Only runs of these applications.')
    .option('--labels <label...>', 'The labels that its workers may offer.')
    .option('--all-accounts', 'Its workers execute the runs of all accounts.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard workers tokens create "Solver nodes" --labels gpu > token',
    )
    .action(async (name, { applications, labels, allAccounts: all_accounts }) => {
      const { body } = await session.connect().call('createWorkerToken', {
        body: { name, ...dropUndefined({ applications, labels, all_accounts }) },
      });
      session.output.note(`Created ${body.id}. Only this output has its token.`);
      session.output.print({ json: body, text: () => `${body.token}\n`, quiet: () => body.token });
    });
  tokens
    .command('revoke')
    .description('Revoke a worker token. Its workers are removed and their runs are queued again.')
    .argument('<token>', 'The id of the token.')
    .addHelpText('after', '\nExample:\n  switchyard workers tokens revoke wtk-01jd3v7k9mq2z5x8')
    .action(async (worker_token_id) => {
      await session.connect().call('revokeWorkerToken', { params: { worker_token_id } });
      session.output.print({
        json: { revoked: worker_token_id },
        text: () => `Revoked ${worker_token_id}.\n`,
        quiet: () => worker_token_id,
      });
    });
}

async function printWorkers(session: Session): Promise<void> {
  const { body } = await session.connect().call('getWorkers');
  const now = Date.now();
  session.output.printTable(
    body.items,
    [
      { title: 'WORKER', value: ({ id }) => id },
      {
        title: 'STATUS',
        value: ({ status }) => status,
        tone: ({ status }) => (status === 'unresponsive' ? 'bad' : undefined),
      },
      { title: 'HOST', value: ({ host }) => host },
      { title: 'VERSION', value: ({ version }) => version },
      { title: 'LABELS', value: ({ labels }) => labels.join(', ') },
      {
        title: 'SLOTS',
        value: ({ slots }) => slots.map(({ busy, slots: count }) => `${busy}/${count}`).join(' '),
      },
      { title: 'RUNS', value: ({ runs, other_runs }) => runs.length + other_runs, isNumeric: true },
      { title: 'HEARTBEAT', value: ({ heartbeat_at }) => formatAge(Date.parse(heartbeat_at), now) },
    ],
    { json: body, empty: 'No worker is connected.', id: ({ id }) => id },
  );
}

async function printTokens(session: Session): Promise<void> {
  const { body } = await session.connect().call('getWorkerTokens');
  const now = Date.now();
  session.output.printTable(
    body.items,
    [
      { title: 'TOKEN', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'APPLICATIONS', value: ({ applications }) => applications?.join(', ') ?? 'all' },
      { title: 'LABELS', value: ({ labels }) => labels?.join(', ') ?? 'any' },
      { title: 'WORKERS', value: (token) => token.workers, isNumeric: true },
      {
        title: 'LAST USED',
        value: ({ last_used_at }) => (last_used_at ? formatAge(Date.parse(last_used_at), now) : 'never'),
      },
    ],
    { json: body, empty: 'The account has no worker tokens.', id: ({ id }) => id },
  );
}

function printProvisioner({ output }: Session, provisioner: Provisioner): void {
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
