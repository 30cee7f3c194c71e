/** Verifies the chain of the audit log through the API. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  ALL_ACCOUNTS,
  type AuditEntry,
  type AuditHead,
  FIRST_PREVIOUS_HASH,
} from '@switchyard/contract/account/audit.ts';
import {
  type ChainedEntry,
  findChainProblem,
  hashEntry,
} from '@switchyard/contract/account/proofs/audit-chain.ts';
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';

/** The result of a verification. */
export interface AuditVerification {
  /** Number of verified entries. */
  entries: number;
  /** The head of the chain when the verification began. */
  head: AuditHead;
  /** true when every entry of the server was read, so that none is missing. */
  is_complete: boolean;
  /** The first problem that was found, as a sentence; null when there is none. */
  problem: string | null;
}

interface VerifyOptions {
  /** An earlier head that was stored elsewhere. */
  anchor: AuditHead | null;
  /** false: read the entries of the caller's account alone, between which entries of others are missing. */
  all: boolean;
  onProgress: (entries: number) => void;
  signal: AbortSignal;
}

/** Longer ago than any server started. */
const BEGINNING = '1970-01-01T00:00:00Z';
/** The time between two looks at the list, when the server asks for fewer requests. */
const PAUSE_MS = 1000;

/** An entry without its content, of which the hash is kept. */
interface HashedEntry extends ChainedEntry {
  contentHash: string;
}

/**
 * Verifies each entry and its link to the one before. Entries that the server appends meanwhile are not verified. Without all
 * entries, only the content of each and the links between neighbours are verified.
 */
export async function verifyAudit(client: Client, options: VerifyOptions): Promise<AuditVerification> {
  const { all, anchor } = options;
  const head = (await client.call('getAuditHead')).body;
  const chained: HashedEntry[] = [];
  // The list is in the order of time, from which the order of the chain may differ.
  for await (const entry of listEntries(client, options)) {
    if (entry.number === null || entry.number > head.number) continue;
    const { number, id, operation, previous_hash, hash } = entry;
    chained.push({ number, id, operation, previous_hash, hash, contentHash: hashEntry(entry) });
    if (chained.length % 1000 === 0) options.onProgress(chained.length);
  }
  chained.sort((a, b) => Number(a.number) - Number(b.number));
  const { last, entries, problem } = walkChain(chained, options);
  const report = (text: string | null): AuditVerification => ({
    entries,
    head,
    is_complete: all,
    problem: text,
  });
  if (problem !== null) return report(problem);
  if (anchor && anchor.number > head.number)
    return report(
      `The chain ends at entry ${head.number}, before entry ${anchor.number} of the anchor: entries at its end were removed.`,
    );
  if (all && last.number < head.number)
    return report(
      `The chain ends at entry ${last.number}, but ${head.number} were chained: entries at its end were removed.`,
    );
  if (last.number === head.number && last.hash !== head.hash)
    return report(
      `Entry ${last.number} has the hash ${last.hash}, but the head of the chain has ${head.hash}.`,
    );
  return report(null);
}

/** Verifies entries in the order of the chain. Returns the last intact one, and the first problem. */
function walkChain(
  chained: readonly HashedEntry[],
  { all, anchor }: Pick<VerifyOptions, 'all' | 'anchor'>,
): { last: AuditHead; entries: number; problem: string | null } {
  let last: AuditHead = { number: 0, hash: FIRST_PREVIOUS_HASH };
  let entries = 0;
  for (const entry of chained) {
    const number = Number(entry.number);
    // Between two entries of an account are those of others; the hash of the one before is known from the entry alone.
    if (!all && number > last.number + 1) last = { number: number - 1, hash: entry.previous_hash ?? '' };
    const problem = findChainProblem(entry, entry.contentHash, last, anchor);
    if (problem !== null) return { last, entries, problem };
    last = { number, hash: entry.contentHash };
    entries += 1;
  }
  return { last, entries, problem: null };
}

async function* listEntries(client: Client, { all, signal }: VerifyOptions): AsyncGenerator<AuditEntry> {
  for (let pagetoken = ''; ; ) {
    const query = {
      limit: PAGE_ITEMS_MAX,
      start: BEGINNING,
      ...(all ? { account_id: ALL_ACCOUNTS } : {}),
      ...(pagetoken === '' ? {} : { pagetoken }),
    };
    try {
      const { body } = await client.call('listAuditEntries', { query, signal });
      yield* body.items;
      pagetoken = body.next_page_token ?? '';
      if (pagetoken === '') return;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 429)) throw error;
      await wait(PAUSE_MS, undefined, { signal });
    }
  }
}
