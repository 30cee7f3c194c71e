/** Rules for the names of resources whose id a caller chooses. */
import { ID_CHARS_MAX, NAME_CHARS_MAX, NAME_CHARS_MIN } from '@switchyard/contract/limits.ts';
import { badRequest, quoteValue } from '../errors/problem.ts';

/** Bounds of a name's length, in characters. */
interface NameLimits {
  min: number;
  max: number;
}

/**
 * Throws a 400 for a name that is too short or too long. A name that equals the id may have the length of an id, because
 * the published clients send the id when their caller sets no name.
 */
export function validateName(
  name: string | null | undefined,
  id: string,
  { min, max }: NameLimits = { min: NAME_CHARS_MIN, max: NAME_CHARS_MAX },
): void {
  if (name === null || name === undefined || name === id) return;
  const length = [...name].length;
  if (length >= min && length <= max) return;
  throw badRequest(
    `name is ${quoteValue(name)}, ${length} characters long; it must have ${min} to ${max} characters, or be the id.`,
  );
}

/** Returns a valid id that resembles the text, `v1-0-0` for `v1.0.0`; empty when no character of the text fits an id. */
export function suggestId(text: string): string {
  return text
    .slice(0, 4 * ID_CHARS_MAX)
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, ID_CHARS_MAX)
    .replaceAll(/^-+|-+$/g, '');
}
