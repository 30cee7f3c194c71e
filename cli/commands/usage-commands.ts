/** Commands for usage, its cost rate, quotas and licences. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { type CostRate, USAGE_GROUPS } from '@switchyard/contract/account/usage.ts';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import {
  formatBytes,
  formatHours,
  formatMoney,
  formatUse,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { confirm } from '../session/confirm.ts';
import type { Session } from '../session/session.ts';
import { count } from '../terminal/columns.ts';
import { formatFields } from '../terminal/table.ts';
import { addApplication } from './application-argument.ts';
import { parseTokens } from './parse-values.ts';
import { defineCommand } from './resource/define-command.ts';
import { defineList } from './resource/define-resource.ts';

type Quotas = ResponseBody<'getQuotas'>;
type ApplicationQuotas = ResponseBody<'getApplicationQuotas'>;
type Usage = ResponseBody<'getUsage'>;

/** Defines `usage`, `storage`, `cost-rate`, `quotas` and `licenses`. */
export function defineUsageCommands(program: Command, session: Session): void {
  defineCommand(program, session, {
    name: 'usage',
    operation: 'getUsage',
    text: 'Print usage and cost of the runs that ended in a range of days.',
    options: {
      from: ['<day>', 'The first day in UTC, such as 2026-11-01.'],
      to: ['<day>', 'The last day.'],
      group_by: ['<names>', `Groups, separated by commas: ${USAGE_GROUPS.join(', ')}.`, { initial: 'day' }],
    },
    prepare: (values) => ({ ...values, application_id: session.options.app }),
    example: '--from 2026-11-01 --group-by application,user',
    print: printUsage,
  });
  defineStorage(program, session);
  defineCostRate(program, session);
  defineQuotas(program, session);
  defineLicenses(program, session);
}

function defineStorage(program: Command, session: Session): void {
  defineList(program, session, {
    name: 'storage',
    operation: 'getStorage',
    text: 'Print the storage of each application. The server measures at most once in 5 minutes.',
    id: 'application_id',
    columns: {
      APPLICATION: 'application_id',
      RUNS: count('runs'),
      'OF RUNS': { value: ({ run_bytes }) => formatBytes(run_bytes), isNumeric: true },
      INPUTS: { value: ({ input_bytes }) => formatBytes(input_bytes), isNumeric: true },
      EXECUTABLES: { value: ({ executable_bytes }) => formatBytes(executable_bytes), isNumeric: true },
      'RUNS STAY': ({ keep_days }) => (keep_days === null ? 'for ever' : `${keep_days} days`),
    },
    empty: 'The account has no applications.',
  });
}

function defineQuotas(program: Command, session: Session): void {
  const quotas = program
    .command('quotas')
    .description('Print or set the quotas of the account, or of an application.');
  quotas
    .command('get', { isDefault: true })
    .description('Print the quotas and what is used of them.')
    .addHelpText('after', '\nExample:\n  switchyard quotas get')
    .action(async () => printQuotas(session, await fetchQuotas(session)));
  quotas
    .command('set')
    .description('Change quotas. Those that are not given stay as they are.')
    .option('--concurrent-runs <count>', 'Runs at the same time, or "none" for no limit.', parseQuota)
    .option('--core-hours-per-month <hours>', 'Core hours in a month, or "none" for no limit.', parseQuota)
    .addHelpText('after', '\nExample:\n  switchyard quotas set routing --concurrent-runs 4')
    .action(async ({ concurrentRuns, coreHoursPerMonth }) => {
      const before = await fetchQuotas(session);
      const choose = (value: Quota | undefined, old: number | null): number | null =>
        value === undefined ? old : value === 'none' ? null : value;
      const body = {
        concurrent_runs: choose(concurrentRuns, before.concurrent_runs),
        core_hours_per_month: choose(coreHoursPerMonth, before.core_hours_per_month),
        // The API replaces both quotas, so the one that is not given is that of the server.
        expected_updated_at: before.updated_at,
      };
      const { app } = session.options;
      const client = session.connect();
      const { body: changed } = app
        ? await client.call('setApplicationQuotas', { params: { application_id: app }, body })
        : await client.call('setQuotas', { body });
      printQuotas(session, changed);
    });
  addApplication(quotas);
}

type Quota = number | 'none';

function parseQuota(text: string): Quota {
  if (text === 'none') return text;
  const value = Number(text);
  if (text !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It must be a number, or "none" for no limit.');
}

/** The quotas of the account; of an application only where one is named, not for that of the working folder. */
async function fetchQuotas(session: Session): Promise<Quotas | ApplicationQuotas> {
  const { app } = session.options;
  const client = session.connect();
  if (!app) return (await client.call('getQuotas')).body;
  return (await client.call('getApplicationQuotas', { params: { application_id: app } })).body;
}

function printQuotas({ output }: Session, quotas: Quotas | ApplicationQuotas): void {
  const format = (used: number, limit: number | null): string =>
    limit === null ? `${formatValue(used)} of unlimited` : formatUse(used, limit);
  output.print({
    json: quotas,
    text: () =>
      formatFields({
        'runs at the same time': format(quotas.running_runs, quotas.concurrent_runs),
        'core hours this month': format(quotas.used_core_hours, quotas.core_hours_per_month),
        'month ends': quotas.resets_at,
        ...('applications' in quotas
          ? Object.fromEntries(
              quotas.applications.map((one) => [
                `application ${one.application_id}`,
                `${format(one.running_runs, one.concurrent_runs)} runs, ${format(one.used_core_hours, one.core_hours_per_month)} core hours`,
              ]),
            )
          : {}),
      }),
  });
}

function defineLicenses(program: Command, session: Session): void {
  const licenses = program.command('licenses').description('Print or set the licences of the account.');
  defineCommand(licenses, session, {
    name: 'list',
    isDefault: true,
    operation: 'getLicenses',
    text: 'List the licences with the tokens that runs occupy.',
    print: printLicenses,
  });
  licenses
    .command('set')
    .description('Add a licence, or change the number of its tokens.')
    .argument('<name=tokens...>', 'Licences, such as gurobi=4.', collectLicense)
    .addHelpText('after', '\nExample:\n  switchyard licenses set gurobi=4')
    .action((pairs) => changeLicenses(session, pairs));
  licenses
    .command('delete')
    .description('Remove licences. Runs that need them wait.')
    .argument('<name...>', 'The names of the licences.')
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard licenses delete gurobi --yes')
    .action(async (names, { yes }) => {
      await confirm(session, { what: `Delete the licences ${names.join(', ')}?`, yes });
      await changeLicenses(session, new Map(names.map((name) => [name, null])));
    });
}

type Licenses = ResponseBody<'getLicenses'>;

function collectLicense(text: string, before: ReadonlyMap<string, number> = new Map()) {
  return new Map([...before, parseTokens(text)]);
}

/** The API replaces all licences, so the others are sent as they are. */
async function changeLicenses(session: Session, changes: ReadonlyMap<string, number | null>): Promise<void> {
  const client = session.connect();
  const { licenses: before, updated_at: expected_updated_at } = (await client.call('getLicenses')).body;
  const totals = new Map<string, number | null>([
    ...before.map(({ name, total }): [string, number] => [name, total]),
    ...changes,
  ]);
  const licenses = [...totals].flatMap(([name, total]) => (total === null ? [] : [{ name, total }]));
  const { body } = await client.call('setLicenses', { body: { licenses, expected_updated_at } });
  printLicenses(session, body);
}

function printLicenses({ output }: Session, body: Licenses): void {
  output.printTable(
    body.licenses,
    {
      LICENCE: 'name',
      USED: { value: ({ used }) => used, isNumeric: true },
      TOKENS: { value: ({ total }) => total, isNumeric: true },
      RUNS: ({ holders }) => holders.map(({ run_id }) => run_id).join(' '),
    },
    { json: body, empty: 'The account has no licences.', id: ({ name }) => name },
  );
}

const HOUR_S = 3600;

function printUsage({ output }: Session, usage: Usage): void {
  const currency = usage.cost_rate?.currency;
  const rows = [
    ...usage.items.map((item) => ({ group: formatGroup(item), ...item })),
    { group: 'total', ...usage.total },
  ];
  output.printTable(
    rows,
    {
      GROUP: 'group',
      RUNS: { value: ({ runs }) => runs, isNumeric: true },
      FAILED: { value: ({ failed_runs }) => failed_runs, isNumeric: true },
      'CORE HOURS': { value: ({ core_seconds }) => formatHours(core_seconds / HOUR_S), isNumeric: true },
      STORED: { value: ({ stored_bytes }) => formatBytes(stored_bytes), isNumeric: true },
      COST: {
        value: ({ cost }) => (cost === null || !currency ? '' : formatMoney(cost, currency)),
        isNumeric: true,
      },
    },
    { json: usage, empty: 'No runs ended in this range.', id: ({ group }) => group },
  );
}

function formatGroup({ day, application_id, user_email }: Usage['items'][number]): string {
  return [day, application_id, user_email].filter(Boolean).join(' · ');
}

function defineCostRate(program: Command, session: Session): void {
  const costRate = program
    .command('cost-rate')
    .description('Print, set or remove the price of a core hour. By it, usage has a cost.');
  defineCommand(costRate, session, {
    name: 'get',
    isDefault: true,
    operation: 'getUsage',
    text: 'Print the price of a core hour.',
    print: (_session, body) => printRate(session, body.cost_rate),
  });
  defineCommand(costRate, session, {
    name: 'set',
    operation: 'setCostRate',
    text: 'Set the price of a core hour. It applies to usage of any time.',
    arguments: {
      per_core_hour: [
        '<price>',
        'The price of one reserved core for one hour, such as 0.05.',
        { parse: parsePrice },
      ],
    },
    options: { currency: ['<code>', 'The currency by its code of ISO 4217, such as EUR.'] },
    example: '0.05 --currency EUR',
    print: printRate,
  });
  defineCommand(costRate, session, {
    name: 'delete',
    operation: 'deleteCostRate',
    text: 'Remove the price. Usage then has no cost.',
    confirm: () => ({ what: 'Remove the price of a core hour?' }),
    example: '--yes',
    print: () => printRate(session, null),
  });
}

function parsePrice(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number of at least 0, such as 0.05.');
}

function printRate({ output }: Session, rate: CostRate | null): void {
  output.print({
    json: rate,
    text: () =>
      rate
        ? `A core hour costs ${rate.per_core_hour} ${rate.currency}.\n`
        : 'The account has no cost rate.\n',
    quiet: () => (rate ? String(rate.per_core_hour) : []),
  });
}
