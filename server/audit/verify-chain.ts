/** Walks the chain of the audit log from its first entry, and says where it is not what it was. */
import { setImmediate } from 'node:timers/promises';
import { type AuditHead, FIRST_PREVIOUS_HASH } from '@switchyard/contract/account/audit.ts';
import type { Reader } from '../database/database.ts';
import { formatEntry, hashEntry } from './entry.ts';
import { countUnchained, type EntryRow, findHead, listChained } from './store.ts';

const BATCH_SIZE = 1000;

export interface ChainVerification {
  /** How many entries are as they were. */
  entries: number;
  last: AuditHead;
  /** Entries that have no place in the chain yet. */
  unchained: number;
  /** What is wrong with the first entry that is; null when the chain is whole. */
  problem: string | null;
}

/**
 * `anchor` is an end of the chain that was noted before and kept elsewhere. The server may go on meanwhile: what it adds
 * after the walk has begun is not looked at.
 */
export async function verifyChain(db: Reader, anchor: AuditHead | null): Promise<ChainVerification> {
  const end = await findHead(db);
  let last = { number: 0, hash: FIRST_PREVIOUS_HASH };
  const unchained = await countUnchained(db);
  const told = (wrong: string | null): ChainVerification => ({
    entries: last.number,
    last,
    unchained,
    problem: wrong,
  });
  if (!end) return told('The row that tells where the chain ends (audit_head) is gone.');
  for (let at = { number: 0, seq: 0 }, ended = false; !ended; ) {
    const rows = await listChained(db, at, BATCH_SIZE);
    for (const row of rows) {
      if (last.number >= end.number && last.number >= (anchor?.number ?? 0)) {
        ended = true;
        break;
      }
      const wrong = wrongIn(row, last, anchor);
      if (wrong) return told(wrong);
      last = { number: Number(row.number), hash: String(row.hash) };
    }
    const { number, seq } = rows.at(-1) ?? { number: 0, seq: 0 };
    at = { number: Number(number), seq };
    ended ||= rows.length < BATCH_SIZE;
    await setImmediate();
  }
  if (anchor && last.number < anchor.number)
    return told(
      `The chain ends at entry ${last.number}, before entry ${anchor.number} of the anchor: entries at its end were removed.`,
    );
  if (last.number < end.number)
    return told(
      `The chain ends at entry ${last.number}, but ${end.number} were chained: entries at its end were removed.`,
    );
  return told(null);
}

/** What is wrong with the entry that comes after `last`; null when nothing is. */
function wrongIn(row: EntryRow, last: AuditHead, anchor: AuditHead | null): string | null {
  const number = last.number + 1;
  const place = `Entry ${row.number} (${row.id}, ${row.operation})`;
  if (row.number !== number)
    return Number(row.number) > number
      ? `Entry ${number} is missing; the one after entry ${last.number} is entry ${row.number}.`
      : `${place} is there twice.`;
  if (row.previous_hash !== last.hash)
    return `${place} was chained to an entry with the hash ${row.previous_hash}, but the one before it has ${last.hash}.`;
  const hash = hashSafely(row);
  if (row.hash !== hash)
    return `${place} is not what it was: its hash is ${row.hash}, and that of what it says is ${hash}.`;
  if (anchor?.number === number && anchor.hash !== hash)
    return `${place} has the hash ${hash}, but the anchor ${anchor.hash}: the chain was written anew.`;
  return null;
}

function hashSafely(row: EntryRow): string {
  try {
    return hashEntry(formatEntry(row));
  } catch {
    return 'none, for it cannot be read';
  }
}
