/** Verifies the chain of the audit log from its first entry and reports the first entry that was changed or removed. */
import { setImmediate } from 'node:timers/promises';
import { type AuditHead, FIRST_PREVIOUS_HASH } from '@switchyard/contract/account/audit.ts';
import { findChainProblem, hashEntry } from '@switchyard/contract/account/proofs/audit-chain.ts';
import type { Reader } from '../../platform/database/database.ts';
import { formatEntry } from './entry.ts';
import { countUnchained, type EntryRow, findHead, listChained } from './store.ts';

const BATCH_SIZE = 1000;

/** The result of a verification. */
export interface ChainVerification {
  /** Number of intact entries before the first problem. */
  entries: number;
  /** The last intact entry. */
  last: AuditHead;
  /** Number of entries that are not chained yet. */
  unchained: number;
  /** The first problem as a sentence; null when the chain is intact. */
  problem: string | null;
}

/**
 * Verifies every hash of the chain. `anchor` is an earlier head that was stored outside the database: it reveals a chain
 * that was rewritten or cut. A server may run meanwhile: entries that it appends after the start are not verified.
 */
export async function verifyChain(db: Reader, anchor: AuditHead | null): Promise<ChainVerification> {
  const head = await findHead(db);
  let last = { number: 0, hash: FIRST_PREVIOUS_HASH };
  const unchained = await countUnchained(db);
  const report = (problem: string | null): ChainVerification => ({
    entries: last.number,
    last,
    unchained,
    problem,
  });
  if (!head) return report('The head of the chain (the row of audit_head) is missing.');
  for (let position = { number: 0, seq: 0 }, atEnd = false; !atEnd; ) {
    const rows = await listChained(db, position, BATCH_SIZE);
    for (const row of rows) {
      if (last.number >= head.number && last.number >= (anchor?.number ?? 0)) {
        atEnd = true;
        break;
      }
      const problem = findChainProblem(row, computeHash(row), last, anchor);
      if (problem) return report(problem);
      last = { number: Number(row.number), hash: String(row.hash) };
    }
    const { number, seq } = rows.at(-1) ?? { number: 0, seq: 0 };
    position = { number: Number(number), seq };
    atEnd ||= rows.length < BATCH_SIZE;
    // Lets the process serve signals between batches: hashing 1,000 entries blocks it.
    await setImmediate();
  }
  if (anchor && last.number < anchor.number)
    return report(
      `The chain ends at entry ${last.number}, before entry ${anchor.number} of the anchor: entries at its end were removed.`,
    );
  if (last.number < head.number)
    return report(
      `The chain ends at entry ${last.number}, but ${head.number} were chained: entries at its end were removed.`,
    );
  return report(null);
}

/** Returns null for a row whose resource is not JSON any more. */
function computeHash(row: EntryRow): string | null {
  try {
    return hashEntry(formatEntry(row));
  } catch {
    return null;
  }
}
