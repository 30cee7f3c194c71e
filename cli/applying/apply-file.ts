/** Plans and applies a file. */

import { createInterface } from 'node:readline/promises';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import type { Session } from '../session/session.ts';
import { cleanStyledText } from '../terminal/clean-text.ts';
import { listResources } from './list-resources.ts';
import { type Change, formatResource, hashPlan, makeChanges, planChanges } from './plan-changes.ts';
import { describePlan, formatPlan, printChanges } from './print-changes.ts';
import { readFile } from './read-file.ts';

export interface FileOptions {
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
export async function printPlan(
  session: Session,
  { isChecked, ...options }: FileOptions & { isChecked: boolean },
): Promise<void> {
  const plan = await planFile(session, options);
  printChanges(session, plan);
  if (isChecked && plan.changes.length > 0) session.exitCode = EXIT_CODES.failure;
}

/** Prints the difference, asks, and makes the changes. With an expected plan, a difference that is not that plan is refused. */
export async function applyFile(
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
  if (plan.changes.length > 0 && !yes && !(await confirm(session)))
    throw new CommandError('Nothing was changed.', EXIT_CODES.failure);
  await makeChanges(plan.changes, ({ action, resource }) =>
    output.note(`${DONE[action]} ${formatResource(resource)}`),
  );
  output.print({
    json: describePlan(plan),
    text: () =>
      plan.changes.length === 0
        ? ''
        : `Made ${plan.changes.length} ${plan.changes.length === 1 ? 'change' : 'changes'}.\n`,
    quiet: () => plan.changes.map(({ resource }) => formatResource(resource)),
  });
}

const DONE = { create: 'Created', update: 'Updated', delete: 'Deleted' } as const;

/** Without a terminal nobody can answer, so the caller must have decided before. */
async function confirm({ terminal, output }: Session): Promise<boolean> {
  if (!terminal.in.isTTY || output.form !== 'text')
    throw new CommandError('The changes need a confirmation. Give --yes to make them without one.');
  terminal.out.write('Make these changes? Type yes: ');
  const lines = createInterface({ input: terminal.in });
  try {
    const reply = await lines.question('', { signal: terminal.signal });
    return reply.trim() === 'yes';
  } finally {
    lines.close();
  }
}
