/** Commands for share links of runs. */
import type { SharedPart } from '@switchyard/contract/account/shared-parts.ts';
import { SHARE_HOURS_DEFAULT, SHARE_HOURS_MAX } from '@switchyard/contract/limits.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { readPages } from '../session/list-items.ts';
import type { Session } from '../session/session.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { type Columns, formatFields, formatTable } from '../terminal/table.ts';
import { parseWholeNumber } from './parse-values.ts';
import type { Field } from './resource/define-command.ts';
import { defineResource } from './resource/define-resource.ts';

const SHARES_DEFAULT = 50;
const SHARES_MAX = 10_000;
/** The parts that the console chooses first. */
const DEFAULT_PARTS: SharedPart[] = ['summary', 'indicators', 'output', 'assets'];
const run_id: Field = ['<run>', 'The id of the run.'];

export const defineShareCommands = defineResource({
  name: 'shares',
  noun: 'share',
  text: 'List, create and revoke links to read-only pages of runs.',
  parents: { run_id },
  argument: 'The ids of the links.',
  create: {
    operation: 'createShare',
    text: 'Create a link to a page of the run, for people without an account, and print its address.',
    arguments: { run_id },
    options: {
      parts: ['<part...>', 'The parts of the run that the page shows.', { initial: DEFAULT_PARTS }],
      expires_in_hours: [
        '<hours>',
        `The validity in hours, 1 to ${SHARE_HOURS_MAX}; otherwise ${SHARE_HOURS_DEFAULT}.`,
      ],
    },
    example: 'run-01jd3v7k9mq2z5x8 --parts summary output --expires-in-hours 24',
    print: ({ output }, body) => {
      output.note(
        `Created ${body.id}. Everybody with the address can read the page until ${body.expires_at}.`,
      );
      output.printSentence(body, cleanLine(body.url), body.id);
    },
  },
  remove: {
    operation: 'revokeShare',
    words: ['revoke', 'Revoked'],
    text: 'End links of a run at once.',
    isMany: true,
    example: 'run-01jd3v7k9mq2z5x8 share-01jd3v9r2c6w8y4z',
  },
  more: (shares, session) => {
    shares
      .command('list', { isDefault: true })
      .description(
        'List the links of a run with their addresses, or without a run those of the account without addresses.',
      )
      .argument('[run]', 'The id of the run.')
      .option(
        '--limit <count>',
        'The number of links of the account.',
        parseWholeNumber(1, SHARES_MAX),
        SHARES_DEFAULT,
      )
      .addHelpText('after', '\nExample:\n  switchyard shares list run-01jd3v7k9mq2z5x8')
      .action((run, { limit }) => (run === undefined ? printAll(session, limit) : printOfRun(session, run)));
  },
});

/** The fields of a link that both lists have. */
interface ListedShare {
  parts: readonly string[];
  expires_at: string;
  views: number;
}

/** The columns after those with ids, which a narrow terminal must not cut. */
function listColumns(now: number): Columns<ListedShare> {
  return {
    VIEWS: { value: ({ views }) => views, isNumeric: true },
    'EXPIRES IN': ({ expires_at }) => formatDuration(Date.parse(expires_at) - now),
    PARTS: ({ parts }) => parts.join(', '),
  };
}

async function printOfRun({ connect, findApplication, output }: Session, run_id: string): Promise<void> {
  const params = { application_id: findApplication(), run_id };
  const { body } = await connect().call('listShares', { params });
  const { items } = body;
  output.print({
    json: body,
    text: () => {
      if (items.length === 0) return `Run ${run_id} has no share links.\n`;
      const table = formatTable(items, { SHARE: 'id', ...listColumns(Date.now()) }, output);
      return `${table}\n${formatFields(Object.fromEntries(items.map(({ id, url }) => [id, url])))}`;
    },
    quiet: () => items.map(({ id }) => id),
  });
}

async function printAll(session: Session, limit: number): Promise<void> {
  const client = session.connect();
  const body = await readPages(
    limit,
    async (query) => (await client.call('listAccountShares', { query })).body,
  );
  session.output.printTable(
    body.items,
    {
      SHARE: 'id',
      RUN: { value: ({ run_id }) => run_id, isWhole: true },
      APPLICATION: 'application_id',
      ...listColumns(Date.now()),
    },
    { json: body, empty: 'The account has no share links.', id: ({ id }) => id },
  );
}
