/**
 * Runs as CSV: their facts, options and indicators, each in a column. The runs are read twice, page by page: first for the
 * names of the columns, and again for the lines. So the memory is that of one page, whatever the number of runs.
 */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { writeMarkedNumbers } from '@switchyard/contract/exact-json.ts';
import { KEY_CSV_MAX, RUNS_CSV_COLUMNS_MAX } from '@switchyard/contract/limits.ts';
import { type CsvField, formatCsvLines } from '@switchyard/contract/presentation/format-csv.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { badRequest, tooManyRequests } from '../../platform/http/errors/problem.ts';
import type { RawResponse } from '../../platform/http/handlers/handler.ts';
import { SharedUse } from '../../platform/http/limits/member-share.ts';
import type { RunPosition } from '../listing/run-filter.ts';

/** A page of runs, and the position after it; null at the end. */
export interface RunsPage {
  runs: Run[];
  next: RunPosition | null;
}
type ReadPage = (after: RunPosition | null) => Promise<RunsPage>;

/** The columns of every list, with the names that the fields have in JSON. */
const FACTS: readonly (readonly [name: string, read: (run: Run) => CsvField])[] = [
  ['id', (run) => run.id],
  ['name', (run) => run.name],
  ['description', (run) => run.description],
  ['status_v2', (run) => run.status_v2],
  ['created_at', (run) => run.created_at],
  ['initiated_at', (run) => run.initiated_at],
  ['finished_at', (run) => run.finished_at],
  ['execution_duration', (run) => run.execution_duration],
  ['user_email', (run) => run.user_email],
  ['application_id', (run) => run.application_id],
  ['application_instance_id', (run) => run.application_instance_id],
  ['application_version_id', (run) => run.application_version_id],
  ['run_type', (run) => run.run_type.type],
  ['definition_id', (run) => run.run_type.definition_id],
  ['reference_id', (run) => run.run_type.reference_id],
  ['execution_class', (run) => run.execution_class],
  ['runtime', (run) => run.runtime],
  ['queuing_priority', (run) => run.queuing_priority],
  ['queuing_disabled', (run) => run.queuing_disabled],
  ['lost_attempts', (run) => run.lost_attempts?.length ?? 0],
  ['input_id', (run) => run.input_id],
  ['experiment_id', (run) => run.experiment_id],
  ['experiment_type', (run) => run.experiment_type],
  ['plan_unit_index', (run) => run.plan_unit_index],
  ['parent_run_id', (run) => run.parent_run_id],
  ['parent_application_id', (run) => run.parent_application_id],
  ['workflow_name', (run) => run.workflow_name],
  ['statistics_status', (run) => run.statistics.status],
  ['statistics_error', (run) => run.statistics.error],
];
const FACT_NAMES = FACTS.map(([name]) => name);

/** The names of the columns that depend on the runs, in alphabetical order. */
interface Columns {
  options: readonly string[];
  indicators: readonly string[];
}

/** The lists that callers read as CSV at this moment. */
export class OpenCsvLists {
  readonly #use = new SharedUse();

  /** Counts a list of the holder until the returned function is called. Throws a 429 when the key or the member has too many. */
  open(holder: string): () => void {
    const release = this.#use.open(holder, KEY_CSV_MAX);
    if (!release)
      throw tooManyRequests(
        `The member reads ${this.#use.countMember(holder)} lists as CSV; a key can read ${KEY_CSV_MAX} at a time. Wait for one of them.`,
        { 'retry-after': '5' },
      );
    return release;
  }
}

/**
 * Responds with all runs of the pages. Throws a 400 for runs with too many different options and indicators, and for a caller
 * who leaves before the first line. One who leaves later ends the stream. Calls `onEnd` at the end of each of them.
 */
export async function respondWithCsv(
  readPage: ReadPage,
  onDisconnect: (callback: () => void) => () => void,
  onEnd: () => void,
): Promise<RawResponse> {
  let hasLeft = false;
  const end = onDisconnect(() => {
    hasLeft = true;
  });
  const readForCaller: ReadPage = (after) => {
    if (hasLeft) throw badRequest('The connection was closed before the first line of the CSV.');
    return readPage(after);
  };
  const columns = await readColumns(readForCaller)
    .finally(end)
    .catch((error: unknown) => {
      onEnd();
      throw error;
    });
  async function* generateLines(): AsyncGenerator<string> {
    yield formatCsvLines([
      [
        ...FACT_NAMES,
        ...columns.options.map((name) => `option.${name}`),
        ...columns.indicators.map((name) => `indicator.${name}`),
      ],
    ]);
    for await (const runs of readPages(readPage))
      yield writeMarkedNumbers(formatCsvLines(runs.map((run) => listValues(run, columns))));
  }
  const raw = Readable.from(generateLines(), { objectMode: false });
  raw.once('close', onEnd);
  return {
    status: 200,
    raw,
    contentType: 'text/csv; charset=utf-8; header=present',
    isCompressible: true,
  };
}

async function readColumns(readPage: ReadPage): Promise<Columns> {
  const options = new Set<string>();
  const indicators = new Set<string>();
  for await (const runs of readPages(readPage)) {
    for (const run of runs) {
      for (const name of Object.keys(run.options ?? {})) options.add(name);
      for (const { name } of run.statistics.indicators) indicators.add(name);
    }
    if (options.size + indicators.size > RUNS_CSV_COLUMNS_MAX)
      throw badRequest(
        `The runs have more than ${RUNS_CSV_COLUMNS_MAX} different options and indicators, each of which is a column with format=csv. Select fewer runs by filters, such as instance_id.`,
      );
  }
  return { options: [...options].sort(), indicators: [...indicators].sort() };
}

async function* readPages(readPage: ReadPage): AsyncGenerator<Run[]> {
  for (let page = await readPage(null); ; page = await readPage(page.next)) {
    if (page.runs.length > 0) yield page.runs;
    if (page.next === null) return;
    // Other requests run between two pages.
    await setImmediate();
  }
}

function listValues(run: Run, columns: Columns): CsvField[] {
  const options = new Map(Object.entries(run.options ?? {}));
  const indicators = new Map(run.statistics.indicators.map(({ name, value }) => [name, value]));
  return [
    ...FACTS.map(([, read]) => read(run)),
    ...columns.options.map((name) => options.get(name)),
    ...columns.indicators.map((name) => indicators.get(name)),
  ];
}
