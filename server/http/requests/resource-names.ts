/** Names of resources whose id a caller chooses. Pure. */
import { ID_CHARS_MAX, NAME_CHARS_MAX, NAME_CHARS_MIN } from '@switchyard/contract/limits.ts';
import { badRequest, quoteValue } from '../errors/problem.ts';

interface NameLimits {
  min: number;
  max: number;
}

/**
 * Throws the 400 for a name that is too short or too long. A name that equals the id may be whatever an id may be: the
 * published clients send the id for a name that they are not given.
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

/** An id that resembles the text, or empty: `v1-0-0` for `v1.0.0`. */
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
