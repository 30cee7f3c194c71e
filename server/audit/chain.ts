/**
 * Appends audit entries to the chain. Only one entry can be the last, so the job locks the end of the chain; no request
 * waits for that lock. The job finds entries by their missing number and not by `seq`: PostgreSQL draws `seq` before the
 * commit, so a reader that continues after the last `seq` misses entries that commit late.
 */
import type { Database, Writer } from '../database/database.ts';
import { defineJob, type Job, type JobContext } from '../jobs/define-job.ts';
import { formatEntry, hashEntry } from './entry.ts';
import { type ChainLink, hasUnchained, linkEntries, listUnchained, lockHead, updateHead } from './store.ts';

const INTERVAL_MS = 1000;
/** So many at once keep others waiting for some milliseconds. Few sizes make few statements, which are kept compiled. */
const BATCH_SIZES = [128, 16, 1] as const;
/** The log of the server is often kept elsewhere: an end of the chain in it is one that the database cannot take back. */
const LOG_INTERVAL_MS = 60 * 60 * 1000;

interface Parts extends JobContext {
  database: Database;
}

/** Chains what has no place yet, unless somebody else is at it; answers the last entry that it chained. */
export async function chainEntries(database: Database): Promise<ChainLink | null> {
  if (!(await hasUnchained(database.read))) return null;
  let last: ChainLink | null = null;
  for (;;) {
    const links = await database.transact((tx) => chainSome(tx));
    last = links.at(-1) ?? last;
    if (links.length < BATCH_SIZES[0]) return last;
  }
}

/** Chains new entries every second, on every server. */
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
      log.info({ number: last.number, hash: last.hash }, 'The chain of the audit log reaches to here.');
    },
  });
}

async function chainSome(tx: Writer): Promise<ChainLink[]> {
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
    const size = BATCH_SIZES.find((one) => one <= links.length - from) ?? 1;
    await linkEntries(tx, links.slice(from, from + size));
    from += size;
  }
  if (links.length > 0) await updateHead(tx, { number, hash });
  return links;
}
