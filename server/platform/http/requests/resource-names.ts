/** Rules for the names of resources whose id a caller chooses. */
import { NAME_CHARS_MAX, NAME_CHARS_MIN } from '@switchyard/contract/limits.ts';
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

/** Returns the name and the description that an update changes. */
export function pickTexts({ name, description }: { name?: string | null; description?: string | null }): {
  name?: string;
  description?: string;
} {
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
}
