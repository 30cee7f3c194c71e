/** Commands for the audit log. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { AuditHead } from '@switchyard/contract/account/audit.ts';
import { parseAnchor } from '@switchyard/contract/account/proofs/audit-chain.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import type { Session } from '../../session/session.ts';
import { parseTime, parseWholeNumber } from '../parse-values.ts';
import { defineCommand } from '../resource/define-command.ts';
import { defineList } from '../resource/define-resource.ts';
import { verifyAudit } from './verify-audit.ts';

/** Defines `audit` with its commands. */
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
