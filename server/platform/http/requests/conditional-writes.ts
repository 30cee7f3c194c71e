/**
 * Conditional writes: an update that names the state that its caller has read fails on any other state. An update without this
 * condition, such as that of an experiment, refuses the field (handlers/fixed-fields.ts).
 */
import { formatRfc3339 } from '../../clock.ts';
import { ChangedError, quoteValue } from '../errors/problem.ts';

/** The present row of a resource, and the words that name it in a message, such as `instance "production"`. */
interface Resource {
  noun: string;
  updatedAt: number;
}

/**
 * Throws a 409 when the resource has changed since the caller read it. Call it in the transaction of the write, with the row
 * locked.
 */
export function requireUnchanged(
  { noun, updatedAt }: Resource,
  { expected_updated_at: expected }: { expected_updated_at?: string | null },
): void {
  // A client may send null for a field that it does not use, and none of these resources has it as its time.
  if (typeof expected === 'string')
    requireSettingUnchanged({ noun, updatedAt }, { expected_updated_at: expected });
}

/** The same for a setting, whose time is null until somebody sets it, so that null is a condition too. */
export function requireSettingUnchanged(
  { noun, updatedAt }: { noun: string; updatedAt: number | null },
  { expected_updated_at: expected }: { expected_updated_at?: string | null },
): void {
  if (expected === undefined) return;
  if ((expected === null ? null : Date.parse(expected)) === updatedAt) return;
  const state = updatedAt === null ? 'is not set' : `was changed at ${formatRfc3339(updatedAt)}`;
  throw new ChangedError(
    updatedAt,
    (who) =>
      `expected_updated_at is ${quoteValue(expected)}, and the ${noun} ${state}${who}. Nothing was changed. Read it again, and repeat your change on what it is now.`,
  );
}

/** Returns the `updated_at` of a setting; null for one that nobody has changed. */
export function formatSettingTime(updatedAt: number | null | undefined): string | null {
  return updatedAt == null ? null : formatRfc3339(updatedAt);
}

/** Returns the time of an update: later than the one before, so that two updates in a millisecond are two states. */
export function computeUpdateTime(now: number, { updated_at }: { updated_at: number | null }): number {
  return updated_at === null ? now : Math.max(now, updated_at + 1);
}
