/**
 * Appends audit entries to the chain. Only one entry can be the last, so the job locks the head of the chain; no request
 * waits for that lock. The job selects entries without a number and does not continue after the last `seq`: PostgreSQL
 * draws `seq` before the commit, so such a reader misses entries that commit late.
 */
import { hashEntry } from '@switchyard/contract/account/proofs/audit-chain.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { formatEntry } from './entry.ts';
import { type ChainLink, hasUnchained, linkEntries, listUnchained, lockHead, updateHead } from './store.ts';

const INTERVAL_MS = 1000;
/** 128 links hold the lock for a few milliseconds. Three sizes need three statements, so all stay prepared. */
const BATCH_SIZES = [128, 16, 1] as const;
/** A log line with the head is an anchor that nobody with access to the database can change. */
const LOG_INTERVAL_MS = 60 * 60 * 1000;

interface Parts extends JobContext {
  database: Database;
}

/**
 * Appends all unchained entries to the chain, in batches. Returns the last link it appended; null when there was none or
 * another process holds the head.
 */
export async function chainEntries(database: Database): Promise<ChainLink | null> {
  if (!(await hasUnchained(database.read))) return null;
  let last: ChainLink | null = null;
  for (;;) {
    const links = await database.transact((tx) => chainBatch(tx));
    last = links.at(-1) ?? last;
    if (links.length < BATCH_SIZES[0]) return last;
  }
}

/** Appends new entries to the chain every second. Every process runs it; the lock on the head lets one at a time work. */
export function chainAuditEntriesJob(parts: Parts): Job {
  const { database, clock, log } = parts;
  let loggedAt = 0;
  return defineJob(parts, {
    name: 'chain-audit-entries',
    intervalMs: INTERVAL_MS,
    async handle() {
      const last = await chainEntries(database);
      if (!last || clock.now() - loggedAt < LOG_INTERVAL_MS) return;
      loggedAt = clock.now();
      log.info({ number: last.number, hash: last.hash }, 'Audit chain extended');
    },
  });
}

/** Appends one batch in one transaction; returns no link while another process holds the head. */
async function chainBatch(tx: Writer): Promise<ChainLink[]> {
  const head = await lockHead(tx);
  if (!head) return [];
  const rows = await listUnchained(tx, BATCH_SIZES[0]);
  let { number, hash } = head;
  const links = rows.map((row): ChainLink => {
    const previous_hash = hash;
    number += 1;
    hash = hashEntry(formatEntry({ ...row, number, previous_hash }));
    return { seq: row.seq, number, previous_hash, hash };
  });
  for (let from = 0; from < links.length; ) {
    const size = BATCH_SIZES.find((batch) => batch <= links.length - from) ?? 1;
    await linkEntries(tx, links.slice(from, from + size));
    from += size;
  }
  if (links.length > 0) await updateHead(tx, { number, hash });
  return links;
}
