/** Lists runs with every filter of the API. */
import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import type { CallRequest, CallResponse, Client } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { RUN_SORT_COLUMNS } from '@switchyard/contract/runs/run-filters.ts';
import { RUN_TYPES } from '@switchyard/contract/runs/run-schemas.ts';
import { RUN_STATUSES_V2 } from '@switchyard/contract/states.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatNumber } from '../../terminal/format-quantity.ts';
import { formatAge } from '../../terminal/format-time.ts';
import type { Tone } from '../../terminal/style.ts';
import { collectValue, parseTime, parseWholeNumber } from '../parse-values.ts';
import { buildViewQuery, findView } from '../views/find-view.ts';

type Query = NonNullable<CallRequest<Operations['listRuns']>['query']>;
type ListedRun = CallResponse<Operations['listRuns']>['body']['runs'][number];

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000_000;
const OBJECTIVE = 'result.value';

interface BasicFilters {
  status?: string[];
  instanceId?: string[];
  versionId?: string[];
  userEmail?: string[];
  runType?: string[];
  name?: string;
}

interface TimeFilters {
  createdAfter?: string;
  createdBefore?: string;
}

/** The values of the options of `addRunFilters`. */
export interface RunFilters extends BasicFilters, TimeFilters {}

/** The values of the options of `addTableFilters`. */
export interface TableFilters extends BasicFilters {
  tag?: string[];
  text?: string;
  indicator?: string[];
  option?: string[];
  sort?: string;
}

interface ListOptions extends TableFilters, TimeFilters {
  view?: string;
  ensembleId?: string[];
  limit: number;
  all?: true;
}

function addBasicFilters<Arguments extends unknown[]>(command: Command<Arguments>) {
  return command
    .addOption(
      new Option('--status <status...>', 'Only runs with one of these statuses.').choices(RUN_STATUSES_V2),
    )
    .option('--instance, --instance-id <id...>', 'Only runs of these instances.')
    .option('--version, --version-id <id...>', 'Only runs of these versions; "" for the newest executable.')
    .option('--user, --user-email <email...>', 'Only runs of these callers.')
    .addOption(new Option('--type, --run-type <type...>', 'Only runs of these types.').choices(RUN_TYPES))
    .option('--name <name>', 'Only runs with exactly this name.');
}

function addTimeFilters<Arguments extends unknown[], Options extends OptionValues>(
  command: Command<Arguments, Options>,
) {
  return command
    .option(
      '--created-after <time>',
      'Only runs created since this time, such as 2026-11-20 or 24h.',
      parseTime,
    )
    .option('--created-before <time>', 'Only runs created before this time.', parseTime);
}

/** Adds the options of the filters that every search for runs has. */
export function addRunFilters(command: Command) {
  return addTimeFilters(addBasicFilters(command));
}

/** Adds the options of the filters and the order that a table of runs has. */
export function addTableFilters<Arguments extends unknown[]>(command: Command<Arguments>) {
  return addBasicFilters(command)
    .option('--tag <tag...>', 'Only runs with one of these tags.')
    .option('--text <words>', 'Only runs whose id, name and description have words that begin with these.')
    .option(
      '--indicator <condition>',
      'Only runs with an indicator: NAME:MIN..MAX or NAME:VALUE.',
      collectValue,
    )
    .option('--option <condition>', 'Only runs with an option: NAME:MIN..MAX or NAME:VALUE.', collectValue)
    .option(
      '--sort <column>',
      `Order: ${RUN_SORT_COLUMNS.join(', ')}, indicator.NAME or option.NAME; - before it reverses.`,
    );
}

/** Defines `runs`, to which the other commands for runs are added. */
export function defineRunList(program: Command, session: Session) {
  return addTimeFilters(
    addTableFilters(
      program
        .command('runs')
        .description('List runs, the newest first. The commands below work on one of them.'),
    ),
  )
    .option('--ensemble-id <id...>', 'Only ensemble runs of these ensembles, not their child runs.')
    .option(
      '--view <view>',
      'Only runs of this saved view, in its order. Other options replace those of the view.',
    )
    .option('--limit <count>', 'The number of runs.', parseWholeNumber(1, LIMIT_MAX), LIMIT_DEFAULT)
    .option('--all', 'All runs, whatever their number.')
    .addHelpText(
      'after',
      `
Examples:
  switchyard runs --status failed --created-after 24h
  switchyard runs --indicator result.value:..1000 --sort indicator.result.value --limit 5
  switchyard runs --all --json > runs.json`,
    )
    .action((options) => listRuns(session, options));
}

async function listRuns(session: Session, options: ListOptions): Promise<void> {
  const application_id = session.findApplication();
  const limit = options.all ? Number.POSITIVE_INFINITY : options.limit;
  const view = options.view === undefined ? {} : buildViewQuery(await findView(session, options.view));
  const query = { ...view, ...buildQuery(options) };
  const body = await fetchRuns(session.connect(), application_id, query, limit);
  const now = Date.now();
  session.output.printTable(
    body.runs,
    [
      { title: 'RUN', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'STATUS', value: (run) => run.status_v2, tone: ({ status_v2 }) => chooseTone(status_v2) },
      { title: 'OBJECTIVE', value: readObjective, isNumeric: true },
      { title: 'INSTANCE', value: (run) => run.application_instance_id },
      { title: 'CREATED', value: (run) => formatAge(Date.parse(run.created_at), now) },
    ],
    { json: body, empty: `Application ${application_id} has no such runs.`, id: ({ id }) => id },
  );
}

function buildQuery(options: ListOptions): Query {
  return {
    ...buildTableQuery(options),
    ...buildTimeQuery(options),
    ...joinValues('ensemble_id', options.ensembleId),
  };
}

/** Returns the part of a query with the filters and the order that a table of runs has. */
export function buildTableQuery(options: TableFilters) {
  return {
    ...buildBasicQuery(options),
    ...joinValues(
      'tag',
      options.tag?.map((tag) => tag.replaceAll(/[\\,]/g, '\\$&')),
    ),
    ...(options.text !== undefined && { text: options.text }),
    // Several conditions of one kind are separated by commas, as those within one value.
    ...joinValues('indicator', options.indicator),
    ...joinValues('option', options.option),
    ...(options.sort !== undefined && { sort: options.sort }),
  };
}

/** Returns the part of a query with the filters that every search for runs has. */
export function buildFilterQuery(options: RunFilters) {
  return { ...buildBasicQuery(options), ...buildTimeQuery(options) };
}

function buildBasicQuery(options: BasicFilters) {
  return {
    ...joinValues('status', options.status),
    ...joinValues('instance_id', options.instanceId),
    ...joinValues('version_id', options.versionId),
    ...joinValues('user_email', options.userEmail),
    ...joinValues('run_type', options.runType),
    ...(options.name !== undefined && { name: options.name }),
  };
}

function buildTimeQuery({ createdAfter: created_after, createdBefore: created_before }: TimeFilters) {
  return dropUndefined({ created_after, created_before });
}

function joinValues<Name extends string>(
  name: Name,
  values: readonly string[] = [],
): { [Key in Name]?: string } | undefined {
  if (values.length === 0) return undefined;
  const joined: { [Key in Name]?: string } = {};
  joined[name] = values.join(',');
  return joined;
}

/** Returns the first runs of the list, as one response. */
async function fetchRuns(
  client: Client,
  application_id: string,
  query: Query,
  limit: number,
): Promise<{ runs: ListedRun[]; next_page_token?: string }> {
  const { items, ...rest } = await readPages(limit, async (page) => {
    const request = { params: { application_id }, query: { ...query, ...page } };
    const { body } = await client.call('listRuns', request);
    return { ...body, items: body.runs };
  });
  return { runs: items, ...rest };
}

function readObjective({ statistics }: ListedRun): string {
  const value = statistics.indicators.find(({ name }) => name === OBJECTIVE)?.value;
  return typeof value === 'number' ? formatNumber(value) : String(value ?? '');
}

/** Returns the tone of a status. */
function chooseTone(status: string): Tone | undefined {
  if (status === 'failed') return 'bad';
  if (status === 'running') return 'active';
  return status === 'succeeded' ? 'good' : undefined;
}
