/** Commands for the audit log. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { AuditHead } from '@switchyard/contract/account/audit.ts';
import { parseAnchor } from '@switchyard/contract/account/proofs/audit-chain.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { parseTime, parseWholeNumber } from '../parse-values.ts';
import { verifyAudit } from './verify-audit.ts';

const ENTRIES_DEFAULT = 20;
const ENTRIES_MAX = 100_000;

interface ListOptions {
  limit: number;
  start?: string | undefined;
  end?: string | undefined;
  operation?: string | undefined;
  keyId?: string | undefined;
  accountId?: string | undefined;
}

/** Defines `audit` with its commands. */
export function defineAuditCommands(program: Command, session: Session): void {
  const audit = program.command('audit').description('Read and verify the audit log.');
  audit
    .command('list', { isDefault: true })
    .description('List who did what, the newest first. With --app, only in that application.')
    .option('--limit <count>', 'The number of entries.', parseWholeNumber(1, ENTRIES_MAX), ENTRIES_DEFAULT)
    .option('--start <time>', 'Only entries since this time, such as 24h or 2026-11-20.', parseTime)
    .option('--end <time>', 'Only entries before this time.', parseTime)
    .option('--operation <id>', 'Only this operation, such as deleteRun.')
    .option('--key-id <id>', 'Only operations with this key.')
    .option('--account-id <id>', 'Another account, or all; for root alone.')
    .addHelpText('after', '\nExample:\n  switchyard audit list --operation deleteRun --start 7d')
    .action((options) => printEntries(session, options));
  audit
    .command('head')
    .description('Print the number and the hash of the last entry. Store them away from the server.')
    .addHelpText('after', '\nExample:\n  switchyard audit head > anchor')
    .action(async () => {
      const { body } = await session.connect().call('getAuditHead');
      const text = `${body.number}:${body.hash}`;
      session.output.print({ json: body, text: () => `${text}\n`, quiet: () => text });
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

async function printEntries(session: Session, options: ListOptions): Promise<void> {
  const { limit, start, end, operation, keyId: key_id, accountId: account_id } = options;
  const filters = dropUndefined({ start, end, operation, key_id, account_id, resource: session.options.app });
  const body = await readPages(
    limit,
    async (page) =>
      (await session.connect().call('listAuditEntries', { query: { ...filters, ...page } })).body,
  );
  session.output.printTable(
    body.items,
    [
      { title: 'TIME', value: ({ created_at }) => created_at },
      { title: 'WHO', value: ({ user_email, key_name }) => user_email ?? key_name ?? '' },
      { title: 'OPERATION', value: (entry) => entry.operation },
      {
        title: 'OUTCOME',
        value: ({ outcome }) => outcome,
        tone: ({ outcome }) => (outcome === 'refused' ? 'bad' : undefined),
      },
      { title: 'RESOURCE', value: ({ resource }) => Object.values(resource).join(' ') },
      { title: 'ADDRESS', value: ({ address }) => address },
    ],
    { json: body, empty: 'There are no such entries.', id: ({ id }) => id },
  );
}

/** Root reads the entries of all accounts; any other administrator those of the own account. */
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
