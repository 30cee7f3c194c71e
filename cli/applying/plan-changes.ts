/** The changes that make the server like the file. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import type { Fields, Resource } from './resources/resource.ts';

export interface Change {
  action: 'create' | 'update' | 'delete';
  resource: Resource;
  /** The fields of the server when the change was planned. */
  current: Fields | undefined;
  wanted: Fields;
  fields: readonly FieldChange[];
}

/** Returns the changes in the order in which they are made: creations and updates, then deletions backwards. */
export async function planChanges(resources: readonly Resource[]): Promise<Change[]> {
  const changes: Change[] = [];
  const removed: Change[] = [];
  for (const resource of resources) {
    const current = await resource.read();
    if (resource.isRemoved) {
      if (current) removed.unshift({ action: 'delete', resource, current, wanted: {}, fields: [] });
      continue;
    }
    const wanted = resource.merge(current);
    const fields = compareFields(current ?? {}, wanted);
    // The settings of a new application exist with their defaults when it does.
    if (!current || fields.length > 0)
      changes.push({ action: current ? 'update' : 'create', resource, current, wanted, fields });
  }
  return [...changes, ...removed];
}

/**
 * Returns the id of the plan: equal for equal changes of equal resources. Secrets are part of it, but a hash of all
 * changes together with the state of the server shows none of them.
 */
export function hashPlan(changes: readonly Change[]): string {
  const content = changes.map(({ action, resource, current, wanted }) => [
    ...[action, resource.kind, resource.application ?? '', resource.id],
    ...[current ?? null, wanted],
  ]);
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16);
}

/**
 * Makes the changes. Each resource is read again before, and the first one that somebody else has changed ends the work.
 * Throws CommandError then; the changes before it stay.
 */
export async function makeChanges(
  changes: readonly Change[],
  report: (change: Change) => void,
): Promise<void> {
  for (const change of changes) {
    const { action, resource, current, wanted } = change;
    const now = await resource.read();
    // A new application has its settings at once, with their defaults.
    const isExpected = isDeepStrictEqual(now, current) || (current === undefined && isSetting(resource));
    if (!isExpected)
      throw new CommandError(
        `${formatResource(resource)} has changed since the plan was made. Look at the new difference with: switchyard plan`,
        EXIT_CODES.refused,
      );
    if (action === 'create') await resource.create(wanted);
    else if (action === 'update') await resource.update(wanted);
    else await resource.remove();
    report(change);
  }
}

const isSetting = ({ kind }: Resource): boolean =>
  kind === 'default instances' || kind === 'retention' || kind === 'quotas';

/** Names the resource, such as `instance routing/production`. */
export function formatResource({ kind, application, id }: Resource): string {
  return application === undefined || application === id ? `${kind} ${id}` : `${kind} ${application}/${id}`;
}

/** A changed field, by its path with periods. Undefined: the side does not have it. */
interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

function flatten(fields: Fields, prefix = ''): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  for (const [name, value] of Object.entries(fields)) {
    const path = prefix + name;
    if (isRecord(value)) for (const [inner, one] of flatten(value, `${path}.`)) flat.set(inner, one);
    else if (value !== undefined) flat.set(path, value);
  }
  return flat;
}

/** Returns the fields that differ, in the order of their names. */
function compareFields(current: Fields, wanted: Fields): FieldChange[] {
  const [before, after] = [flatten(current), flatten(wanted)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((field) => !isDeepStrictEqual(before.get(field), after.get(field)))
    .toSorted()
    .map((field) => ({ field, from: before.get(field), to: after.get(field) }));
}
