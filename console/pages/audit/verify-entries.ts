import type { AuditEntry } from '@switchyard/contract/account/audit.ts';

/** Returns the numbers of the entries whose hash or link to the entry before is wrong. `entries` are newest first. */
export async function findBrokenEntries(entries: readonly AuditEntry[]): Promise<number[]> {
  const broken: number[] = [];
  for (const [index, entry] of entries.entries()) {
    if (entry.number === null) continue;
    const before = entries[index + 1];
    const isNeighbour = before?.number === entry.number - 1;
    const isLinked = !isNeighbour || before?.hash === entry.previous_hash;
    if (!isLinked || (await hashEntry(entry)) !== entry.hash) broken.push(entry.number);
  }
  return broken;
}

/** Returns the SHA-256 of the canonical JSON (RFC 8785) of an entry without its hash, in hexadecimal digits. */
async function hashEntry({ hash: _, ...entry }: AuditEntry): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalize(entry)));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function canonicalize(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalize(field)}`).join(',')}}`;
}
