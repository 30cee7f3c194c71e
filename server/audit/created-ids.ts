/** The ids of what a POST has made, by their names in paths, read from its answer. */
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';

/** Ids that an answer has by their names. */
const NAMED = ['run_id', 'upload_id', 'event_id'];
/** What an answer has whole. */
const WHOLE = ['account', 'member', 'key'];

/** By the path of what makes it: what one of them is called in the paths below. */
const NAMES = new Map(
  Object.values(operations as Record<string, Operation>).flatMap(({ path }) => {
    const [, above, name] = /^(.*)\/\{(\w+)\}$/.exec(path) ?? [];
    return above === undefined || name === undefined ? [] : [[above, name] as const];
  }),
);

export function createdIds({ path }: Operation, answer: unknown): Record<string, string> {
  const made: Record<string, string> = {};
  if (typeof answer !== 'object' || answer === null) return made;
  const fields = answer as Record<string, unknown>;
  const name = NAMES.get(path);
  if (name && typeof fields.id === 'string') made[name] = fields.id;
  for (const one of NAMED) if (typeof fields[one] === 'string') made[one] = fields[one];
  for (const one of WHOLE) {
    const { id } = (fields[one] ?? {}) as { id?: unknown };
    if (typeof id === 'string') made[`${one}_id`] = id;
  }
  return made;
}
