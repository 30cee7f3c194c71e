/**
 * The chain of the audit log: the hash of an entry, and the check of an entry against the one before it. The server and the
 * command line verify by the same code.
 */
import { createHash } from 'node:crypto';
import type { AuditEntry, AuditHead } from '../audit.ts';

/** The fields of an entry that the check of the chain needs. */
export type ChainedEntry = Pick<AuditEntry, 'number' | 'id' | 'operation' | 'previous_hash' | 'hash'>;

/** Returns the SHA-256 of the canonical JSON of an entry without its hash, as 64 hexadecimal digits. */
export function hashEntry({ hash: _, ...entry }: AuditEntry): string {
  return createHash('sha256').update(canonicalize(entry)).digest('hex');
}

/** RFC 8785 (JSON canonicalisation) for the values in entries: objects, strings, integers and null. */
function canonicalize(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalize(field)}`).join(',')}}`;
}

/**
 * Returns the problem of the entry after `last` as a sentence, or null when the entry is intact.
 * @param hash The hash of the content, or null when the content cannot be parsed.
 * @param anchor An earlier head that was stored elsewhere.
 */
export function findChainProblem(
  chained: ChainedEntry,
  hash: string | null,
  last: AuditHead,
  anchor: AuditHead | null,
): string | null {
  const number = last.number + 1;
  const entry = `Entry ${chained.number} (${chained.id}, ${chained.operation})`;
  if (chained.number !== number)
    return Number(chained.number) > number
      ? `Entry ${number} is missing; the one after entry ${last.number} is entry ${chained.number}.`
      : `${entry} appears twice.`;
  if (chained.previous_hash !== last.hash)
    return `${entry} follows an entry with the hash ${chained.previous_hash}, but the entry before it has the hash ${last.hash}.`;
  if (chained.hash !== hash)
    return `${entry} was changed: its stored hash is ${chained.hash}, but its content ${hash === null ? 'cannot be parsed' : `has the hash ${hash}`}.`;
  if (anchor?.number === number && anchor.hash !== hash)
    return `${entry} has the hash ${hash}, but the anchor has ${anchor.hash}: the chain was rewritten.`;
  return null;
}

/** Returns the head that a text such as `3127:3b60f4…` names, as verifications print it; null for any other text. */
export function parseAnchor(text: string): AuditHead | null {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  return number === undefined || hash === undefined ? null : { number: Number(number), hash };
}
