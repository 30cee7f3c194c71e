/** Commands for a file in Git that describes the resources of an account. */
import type { Command } from '@commander-js/extra-typings';
import { listResources } from '../../applying/list-resources.ts';
import {
  type Change,
  formatResource,
  hashPlan,
  makeChanges,
  planChanges,
} from '../../applying/plan-changes.ts';
import { FILE_NAME, readFile } from '../../applying/read-file.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { confirm } from '../../session/confirm.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine, cleanStyledText } from '../../terminal/clean-text.ts';
import type { Style } from '../../terminal/style.ts';

const FILE_TEXT = 'The file that describes the resources.';
const PRUNE_TEXT =
  'Also delete instances, secrets collections and webhooks that a section of the file does not name. Applications are deleted only with "delete: true".';

const SECRET = '(secret)';
const SIGNS = { create: '+', update: '~', delete: '-' } as const;
const TONES = { create: 'good', update: 'active', delete: 'bad' } as const;

const DONE = { create: 'Created', update: 'Updated', delete: 'Deleted' } as const;

/** Defines `plan` and `apply`. */
export function defineApplyCommands(program: Command, session: Session): void {
  program
    .command('plan')
    .description(
      'Print the difference between a file and the server. It has created, updated and deleted resources.',
    )
    .option('--file <file>', FILE_TEXT, FILE_NAME)
    .option('--prune', PRUNE_TEXT)
    .option('--check', 'Exit with 1 if there is a difference, as for a job that watches for changes by hand.')
    .addHelpText(
      'after',
      `
The file has applications with instances, secrets collections, retention and quotas, and webhooks
and quotas of the account. A field that the file does not have stays as it is. "delete: true"
deletes a resource. Values of secrets are references: "from: {env: NAME}" or "from: {file: PATH}".
The schema is switchyard.schema.json in the package.

Example:
  switchyard plan --file switchyard.yaml`,
    )
    .action(({ file, prune, check }) => printPlan(session, { file, prune, isChecked: check === true }));
  program
    .command('apply')
    .description('Make the server like a file. Prints the difference, asks, and makes the changes.')
    .option('--file <file>', FILE_TEXT, FILE_NAME)
    .option('--prune', PRUNE_TEXT)
    .option('-y, --yes', 'Make the changes without a question.')
    .option(
      '--plan [id]',
      'Make the changes only if they are the plan with this id. Without an id, print the plan and change nothing.',
    )
    .addHelpText(
      'after',
      `
Each resource is read again before its change. If somebody else changed it since the plan, the
command ends with exit code 5; the changes before it stay, and a second apply makes the rest.

Example:
  switchyard apply --yes --plan 0f3a9c1d2b4e5f60`,
    )
    .action(({ plan, ...options }) =>
      plan === true
        ? printPlan(session, { ...options, isChecked: false })
        : applyFile(session, { ...options, plan }),
    );
}

interface FileOptions {
  file: string;
  prune?: true | undefined;
}

interface Plan {
  id: string;
  changes: Change[];
}

async function planFile(session: Session, { file, prune }: FileOptions): Promise<Plan> {
  const content = readFile(session.terminal, file);
  const resources = await listResources(content, {
    client: session.connect(),
    terminal: session.terminal,
    prune: prune === true,
  });
  const changes = await planChanges(resources);
  return { id: hashPlan(changes), changes };
}

/** Prints the difference. With `isChecked`, the exit code is 1 if there is one. */
async function printPlan(
  session: Session,
  { isChecked, ...options }: FileOptions & { isChecked: boolean },
): Promise<void> {
  const plan = await planFile(session, options);
  printChanges(session, plan);
  if (isChecked && plan.changes.length > 0) session.exitCode = EXIT_CODES.failure;
}

/** Prints the difference, asks, and makes the changes. With an expected plan, a difference that is not that plan is refused. */
async function applyFile(
  session: Session,
  { yes, plan: expected, ...options }: FileOptions & { yes?: true | undefined; plan?: string | undefined },
): Promise<void> {
  const { output, terminal } = session;
  const plan = await planFile(session, options);
  if (expected !== undefined && expected !== plan.id)
    throw new CommandError(
      `The difference is now plan ${plan.id}, not ${expected}: the file or the server has changed. Look at it with: switchyard plan`,
      EXIT_CODES.refused,
    );
  if (output.form === 'text') terminal.out.write(cleanStyledText(formatPlan(plan, output.style)));
  if (plan.changes.length > 0) await confirm(session, { what: `Make ${count(plan)}?`, yes });
  await makeChanges(plan.changes, ({ action, resource }) =>
    output.note(`${DONE[action]} ${formatResource(resource)}`),
  );
  output.print({
    json: describePlan(plan),
    text: () => (plan.changes.length === 0 ? '' : `Made ${count(plan)}.\n`),
    quiet: () => plan.changes.map(({ resource }) => formatResource(resource)),
  });
}

function count({ changes }: Plan): string {
  return changes.length === 1 ? '1 change' : `${changes.length} changes`;
}

interface PrintedPlan {
  id: string;
  changes: readonly Change[];
}

/**
 * Prints each change with its fields, old and new, and the numbers of changes. Values of secrets are never printed,
 * also not as JSON.
 */
function printChanges({ output }: Session, plan: PrintedPlan): void {
  output.print({
    json: describePlan(plan),
    text: () => formatPlan(plan, output.style),
    quiet: () => plan.changes.map(({ resource }) => formatResource(resource)),
  });
}

/** Returns the plan as text: a line for each resource and field, then the numbers of changes. */
function formatPlan({ id, changes }: PrintedPlan, style: Style): string {
  if (changes.length === 0) return 'No changes: the server is as the file describes it.\n';
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length;
  return [
    ...changes.flatMap(({ action, resource, fields }) => [
      style(TONES[action], `${SIGNS[action]} ${action} ${formatResource(resource)}`),
      ...fields.map(({ field, from, to }) => {
        const isSecret = resource.isSecret?.(field) ?? false;
        const before = from === undefined ? '' : `${formatValue(from, isSecret)} -> `;
        const source = to === undefined ? undefined : resource.findSource?.(field);
        const after = to === undefined ? 'removed' : formatValue(to, isSecret);
        return `    ${cleanLine(field)}: ${before}${after}${source === undefined ? '' : ` from ${cleanLine(source)}`}`;
      }),
    ]),
    `Plan ${id}: ${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete.`,
    '',
  ].join('\n');
}

function formatValue(value: unknown, isSecret: boolean): string {
  return isSecret ? SECRET : cleanLine(JSON.stringify(value));
}

/** Returns the plan for JSON. */
function describePlan({ id, changes }: PrintedPlan) {
  return {
    id,
    changes: changes.map(({ action, resource, fields }) => ({
      action,
      kind: resource.kind,
      application: resource.application ?? null,
      id: resource.id,
      fields: fields.map(({ field, from, to }) => {
        const isSecret = resource.isSecret?.(field) ?? false;
        const mask = (value: unknown): unknown => (value === undefined ? null : isSecret ? SECRET : value);
        const source = to === undefined ? undefined : resource.findSource?.(field);
        return { field, from: mask(from), to: mask(to), ...(source !== undefined && { source }) };
      }),
    })),
  };
}
