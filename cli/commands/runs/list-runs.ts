/** Lists runs with every filter of the API. */
import { type Command, Option } from '@commander-js/extra-typings';
import { USUAL_OBJECTIVE } from '@switchyard/contract/applications/usual-objective.ts';
import type { CallRequest, Client, ResponseBody } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { distinguish } from '@switchyard/contract/presentation/format-quantity.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatAge } from '../../terminal/format-time.ts';
import type { Tone } from '../../terminal/style.ts';
import { writeToOutput } from '../../transfer/download.ts';
import { parseWholeNumber } from '../parse-values.ts';
import {
  addTableFilters,
  addTimeFilters,
  buildTableQuery,
  buildTimeQuery,
  joinValues,
  type TableFilters,
  type TimeFilters,
} from '../run-filters.ts';
import { buildViewQuery, findView } from '../views/find-view.ts';

type Query = NonNullable<CallRequest<Operations['listRuns']>['query']>;
type ListedRun = ResponseBody<'listRuns'>['runs'][number];

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000_000;

interface ListOptions extends TableFilters, TimeFilters {
  view?: string;
  ensembleId?: string[];
  limit: number;
  all?: true;
  csv?: true;
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
    .addOption(
      new Option(
        '--csv',
        'Print all runs as CSV: facts, options and indicators, each in a column, as pandas and spreadsheets read it.',
      ).conflicts('limit'),
    )
    .option('--all', 'All runs, whatever their number.')
    .addHelpText(
      'after',
      `
Examples:
  switchyard runs --status failed --created-after 24h
  switchyard runs --indicator result.value=..1000 --sort indicator.result.value --limit 5
  switchyard runs --all --json > runs.json
  switchyard runs --status succeeded --csv > runs.csv`,
    )
    .action((options) => listRuns(session, options));
}

async function listRuns(session: Session, options: ListOptions): Promise<void> {
  const application_id = session.findApplication();
  const limit = options.all ? Number.POSITIVE_INFINITY : options.limit;
  const view = options.view === undefined ? {} : buildViewQuery(await findView(session, options.view));
  const query = { ...view, ...buildQuery(session, options) };
  if (options.csv) {
    const request = { params: { application_id }, query: { ...query, format: 'csv' as const } };
    await writeToOutput(await session.connect().open('listRuns', request), session.terminal);
    return;
  }
  const body = await fetchRuns(session.connect(), application_id, query, limit);
  const now = Date.now();
  const formatObjective = createObjectiveFormat(body.runs);
  session.output.printTable(
    body.runs,
    {
      RUN: 'id',
      NAME: 'name',
      STATUS: {
        value: (run) => run.status_v2,
        isWhole: true,
        tone: ({ status_v2 }) => chooseTone(status_v2),
      },
      OBJECTIVE: { value: (run) => formatObjective(readObjective(run)), isNumeric: true },
      INSTANCE: (run) => run.application_instance_id,
      CREATED: { value: (run) => formatAge(Date.parse(run.created_at), now), isWhole: true },
    },
    { json: body, empty: `Application ${application_id} has no such runs.`, id: ({ id }) => id },
  );
}

function buildQuery({ output }: Session, options: ListOptions): Query {
  return {
    ...buildTableQuery(options, output),
    ...buildTimeQuery(options),
    ...joinValues('ensemble_id', options.ensembleId),
  };
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

type Value = ListedRun['statistics']['indicators'][number]['value'];

function readObjective({ statistics }: ListedRun): Value | undefined {
  return statistics.indicators.find(({ name }) => name === USUAL_OBJECTIVE)?.value;
}

/** Returns a function that formats the objectives of the runs so that those that differ look different. */
function createObjectiveFormat(runs: readonly ListedRun[]): (value: Value | undefined) => string {
  const format = distinguish(runs.map(readObjective).filter((value) => typeof value === 'number'));
  return (value) => (typeof value === 'number' ? format(value) : String(value ?? ''));
}

/** Returns the tone of a status. */
function chooseTone(status: string): Tone | undefined {
  if (status === 'failed') return 'bad';
  if (status === 'running') return 'active';
  return status === 'succeeded' ? 'good' : undefined;
}
