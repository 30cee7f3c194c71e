/** Commands for the audit log. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
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
  parseAnchor,
} from '@switchyard/contract/account/proofs/audit-chain.ts';
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import type { Session } from '../../session/session.ts';
import { parseTime, parseWholeNumber } from '../parse-values.ts';
import { defineCommand } from '../resource/define-command.ts';
import { defineList } from '../resource/define-resource.ts';

/** Longer ago than any server started. */
const BEGINNING = '1970-01-01T00:00:00Z';
/** The time between two looks at the list, when the server asks for fewer requests. */
const PAUSE_MS = 1000;

export function defineAuditCommands(program: Command, session: Session): void {
  const audit = program.command('audit').description('Read and verify the audit log.');
  defineEntries(audit, session);
  defineCommand(audit, session, {
    name: 'head',
    operation: 'getAuditHead',
    text: 'Print the number and the hash of the last entry. Store them away from the server.',
    example: '> anchor',
    print: ({ output }, body) =>
      output.printSentence(body, `${body.number}:${body.hash}`, `${body.number}:${body.hash}`),
  });
  audit
    .command('verify')
    .description('Verify the hash of every entry and the chain between them. Exits with 1 when it is broken.')
    .option('--anchor <number:hash>', 'A head of the chain that was stored before.', readAnchor)
    .addHelpText('after', '\nExample:\n  switchyard audit verify --anchor "$(cat anchor)"')
    .action(({ anchor }) => verify(session, anchor ?? null));
}

function readAnchor(text: string): AuditHead {
  const anchor = parseAnchor(text.trim());
  if (anchor) return anchor;
  throw new InvalidArgumentError(
    'It must be a number, a colon and 64 hexadecimal digits, as "audit head" prints them.',
  );
}

function defineEntries(audit: Command, session: Session): void {
  defineList(audit, session, {
    operation: 'listAuditEntries',
    text: 'List who did what, the newest first. With --app, only in that application.',
    limit: { text: 'The number of entries.', initial: 20, parse: parseWholeNumber(1, 100_000) },
    options: {
      start: ['<time>', 'Only entries since this time, such as 24h or 2026-11-20.', { parse: parseTime }],
      end: ['<time>', 'Only entries before this time.', { parse: parseTime }],
      operation: ['<id>', 'Only this operation, such as deleteRun.'],
      key_id: ['<id>', 'Only operations with this key.'],
      account_id: ['<id>', 'Another account, or all; for root alone.'],
    },
    prepare: (values) => ({ ...values, resource: session.options.app }),
    columns: {
      TIME: 'created_at',
      WHO: ({ user_email, key_name }) => user_email ?? key_name,
      OPERATION: 'operation',
      OUTCOME: {
        value: ({ outcome }) => outcome,
        tone: ({ outcome }) => (outcome === 'refused' ? 'bad' : undefined),
      },
      RESOURCE: ({ resource }) => Object.values(resource).join(' '),
      ADDRESS: 'address',
    },
    empty: 'There are no such entries.',
    example: '--operation deleteRun --start 7d',
  });
}

/** Root reads the entries of all accounts; any other administrator those of their own account. */
async function verify(session: Session, anchor: AuditHead | null): Promise<void> {
  const client = session.connect();
  const { role } = (await client.call('getAccount')).body.key;
  const verification = await verifyAudit(client, {
    anchor,
    all: hasRight(role, 'server'),
    signal: session.terminal.signal,
    onProgress: (entries) => session.output.note(`${entries} entries read …`),
  });
  const { entries, head, problem, is_complete } = verification;
  if (problem !== null) session.exitCode = EXIT_CODES.failure;
  session.output.print({
    json: verification,
    text: () => {
      if (problem !== null) return `${problem}\nThe ${entries} entries before it are intact.\n`;
      const scope = is_complete
        ? 'chain whole'
        : 'all of your account and intact; only root sees the whole chain';
      return `${entries} entries, ${scope}, last ${head.number}:${head.hash}\n`;
    },
    quiet: () => `${head.number}:${head.hash}`,
  });
}

/** The result of a verification. */
interface AuditVerification {
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
    // Between two entries of an account are those of others; the entry itself says the hash of the one before.
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
