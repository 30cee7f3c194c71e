/** Ids from names. */
import { ID_CHARS_MAX } from '../limits.ts';

/** Letters that Unicode does not take apart into a letter of ASCII and a mark. */
const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l' };

const IDS_TRIED_MAX = 50;

/**
 * Lists ids to try for a new resource, best first: the id itself, then with the day, and then with a number. A job that creates
 * the same experiment every night has an id for each.
 */
export function listIdsToTry(id: string, now: Date): string[] {
  const day = `-${now.toISOString().slice(0, 10)}`;
  return Array.from({ length: IDS_TRIED_MAX }, (_, count) => {
    const suffix = count === 0 ? '' : count === 1 ? day : `${day}-${count}`;
    return `${id.slice(0, ID_CHARS_MAX - suffix.length)}${suffix}`;
  });
}

/** Returns a valid id that resembles the name, `v1-0-0` for `v1.0.0`; empty when no character of the name fits an id. */
export function suggestId(name: string): string {
  return name
    .slice(0, 4 * ID_CHARS_MAX)
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll(/[ßæœøđł]/g, (letter) => LETTERS[letter] ?? '')
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, ID_CHARS_MAX)
    .replaceAll(/^-+|-+$/g, '');
}
