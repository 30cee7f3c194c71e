/** Prints the changes of a plan. Values of secrets are never printed, also not as JSON. */
import type { Session } from '../session/session.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import type { Style } from '../terminal/style.ts';
import { type Change, formatResource } from './plan-changes.ts';

const SECRET = '(secret)';
const SIGNS = { create: '+', update: '~', delete: '-' } as const;
const TONES = { create: 'good', update: 'active', delete: 'bad' } as const;

interface PrintedPlan {
  id: string;
  changes: readonly Change[];
}

/** Prints each change with its fields, old and new, and the numbers of changes. */
export function printChanges({ output }: Session, plan: PrintedPlan): void {
  output.print({
    json: describePlan(plan),
    text: () => formatPlan(plan, output.style),
    quiet: () => plan.changes.map(({ resource }) => formatResource(resource)),
  });
}

/** Returns the plan as text: a line for each resource and field, then the numbers of changes. */
export function formatPlan({ id, changes }: PrintedPlan, style: Style): string {
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
export function describePlan({ id, changes }: PrintedPlan) {
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
