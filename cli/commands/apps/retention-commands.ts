/** Commands for the retention policy of an application. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { RetentionPolicy, RetentionPreview } from '@switchyard/contract/applications/retention.ts';
import { RETENTION_DAYS_MAX } from '@switchyard/contract/limits.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { CommandError } from '../../errors/command-error.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { formatFields, formatTable } from '../../terminal/table.ts';
import { parseWholeNumber } from '../parse-values.ts';

const KEEP_EXPERIMENT_RUNS = '--keep-experiment-runs';
const DELETE_EXPERIMENT_RUNS = '--no-keep-experiment-runs';
const KEEP_TEXT = 'Runs of experiments stay.';
const DELETE_TEXT = 'Runs of experiments stay only until the experiment has ended.';

export function defineRetentionCommands(program: Command, session: Session): void {
  const retention = program
    .command('retention')
    .description('Print, preview or set how long the runs of the application stay.');
  retention
    .command('get', { isDefault: true })
    .description('Print the retention policy of the application.')
    .addHelpText('after', '\nExample:\n  switchyard retention get')
    .action(async () => printPolicy(session, await fetchPolicy(session)));
  retention
    .command('preview')
    .description('Print the runs that a policy would delete now, without deleting any.')
    .option('--keep-days <days>', 'Days that runs stay; otherwise those of the policy.', parseDays)
    .option(KEEP_EXPERIMENT_RUNS, KEEP_TEXT)
    .option(DELETE_EXPERIMENT_RUNS, DELETE_TEXT)
    .addHelpText('after', '\nExample:\n  switchyard retention preview --keep-days 90')
    .action(async ({ keepDays: keep_days, keepExperimentRuns: keep_experiment_runs }) => {
      const { body } = await session.connect().call('previewRetention', {
        params: { application_id: session.findApplication() },
        query: dropUndefined({ keep_days, keep_experiment_runs }),
      });
      printPreview(session, body);
    });
  retention
    .command('set')
    .description(
      'Change the retention policy. The server deletes expired runs from then on, so preview the policy first.',
    )
    .option('--keep-days <days>', 'Days that runs stay after their end, or "none" for ever.', parseKeepDays)
    .option(KEEP_EXPERIMENT_RUNS, KEEP_TEXT)
    .option(DELETE_EXPERIMENT_RUNS, DELETE_TEXT)
    .addHelpText('after', '\nExample:\n  switchyard retention set --keep-days 90')
    .action((changes) => setPolicy(session, changes));
}

const parseDays = parseWholeNumber(1, RETENTION_DAYS_MAX);

function parseKeepDays(text: string): number | 'none' {
  if (text === 'none') return text;
  try {
    return parseDays(text);
  } catch {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${RETENTION_DAYS_MAX}, or "none".`);
  }
}

async function fetchPolicy(session: Session): Promise<RetentionPolicy> {
  const params = { application_id: session.findApplication() };
  return (await session.connect().call('getRetention', { params })).body;
}

/** The API replaces the policy, so a field that is not given is sent as it is. */
async function setPolicy(
  session: Session,
  { keepDays, keepExperimentRuns }: { keepDays?: number | 'none'; keepExperimentRuns?: boolean },
): Promise<void> {
  if (keepDays === undefined && keepExperimentRuns === undefined)
    throw new CommandError(
      `Nothing to change was given. Give --keep-days, ${KEEP_EXPERIMENT_RUNS} or ${DELETE_EXPERIMENT_RUNS}.`,
    );
  const before = await fetchPolicy(session);
  const { body } = await session.connect().call('setRetention', {
    params: { application_id: session.findApplication() },
    body: {
      keep_days: keepDays === undefined ? before.keep_days : keepDays === 'none' ? null : keepDays,
      keep_experiment_runs: keepExperimentRuns ?? before.keep_experiment_runs,
      expected_updated_at: before.updated_at,
    },
  });
  printPolicy(session, body);
}

function printPolicy({ output }: Session, policy: RetentionPolicy): void {
  const { keep_days, keep_experiment_runs, updated_at } = policy;
  output.print({
    json: policy,
    text: () =>
      formatFields({
        'runs stay': keep_days === null ? 'for ever' : `${keep_days} days after their end`,
        'runs of experiments stay': keep_experiment_runs ? 'for ever' : 'until the experiment has ended',
        changed: updated_at,
      }),
    quiet: () => String(keep_days ?? 'none'),
  });
}

function printPreview({ output }: Session, preview: RetentionPreview): void {
  const { runs, bytes, oldest, newest, examples, retained, is_complete } = preview;
  output.print({
    json: preview,
    text: () => {
      const fields = formatFields({
        'runs to delete': `${is_complete ? '' : 'at least '}${runs} (${formatBytes(bytes)})`,
        ...{ oldest, newest },
        'stay by a tag': retained.tagged,
        'stay for an experiment': retained.of_experiments,
        'stay in use': retained.in_use,
      });
      const table = formatTable(
        examples,
        { 'OLDEST RUNS': 'id', NAME: 'name', ENDED: 'finished_at' },
        output,
      );
      return examples.length === 0 ? fields : `${fields}\n${table}`;
    },
    quiet: () => String(runs),
  });
}
