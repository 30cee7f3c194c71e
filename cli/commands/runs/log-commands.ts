/** Commands for logs of runs. */
import { type Command, Option } from '@commander-js/extra-typings';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { LOG_MATCHES_MAX, LOG_SEARCH_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { LEAST_LOG_LEVELS, type LeastLogLevel } from '@switchyard/contract/runs/logs/log-levels.ts';
import { isActionAllowed, isTerminal } from '@switchyard/contract/states.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine, cleanText } from '../../terminal/clean-text.ts';
import { parseWholeNumber } from '../parse-values.ts';
import { addRunFilters, buildFilterQuery, type RunFilters } from '../run-filters.ts';
import type { RunParams } from './follow-run.ts';
import { formatMatches } from './format-matches.ts';
import { watchRun } from './watch-run.ts';

const RUNS_DEFAULT = 20;
const RUNS_MAX = 10_000;

interface LogOptions {
  follow?: true;
  timestamps?: true;
  search?: string;
  level?: LeastLogLevel;
}

type LogLine = ResponseBody<'getRunLiveLogs'>['items'][number];
type RunMatches = ResponseBody<'searchLogs'>['items'][number];

/** Defines `logs` and `logs search`. */
export function defineLogCommands(program: Command, session: Session): void {
  const logs = program
    .command('logs')
    .description('Print the log of a run: what its app has written to standard error.')
    .argument('<run>', 'The id of the run.')
    .option(
      '-f, --follow',
      'Print lines as they come, until the run has ended. The exit code is 1 when it has failed.',
    )
    .option('--timestamps', 'Print the time of each line before it.')
    .option('--search <text>', 'Only lines that contain this text, with their numbers. Case does not matter.')
    .addOption(createLevelOption())
    .addHelpText(
      'after',
      `
Examples:
  switchyard logs run-01jd3v7k9mq2z5x8 --follow
  switchyard logs run-01jd3v7k9mq2z5x8 --search "time limit"`,
    )
    .action((run_id, options) =>
      printLog(session, { application_id: session.findApplication(), run_id }, options),
    );
  addRunFilters(
    logs.command('search').description('Search the logs of the runs of the application, the newest first.'),
  )
    .argument('[text]', 'Only lines that contain this text. Case does not matter.')
    .addOption(createLevelOption())
    .option(
      '--limit <count>',
      'The number of runs with matching lines.',
      parseWholeNumber(1, RUNS_MAX),
      RUNS_DEFAULT,
    )
    .addHelpText(
      'after',
      `
Examples:
  switchyard logs search infeasible --created-after 7d
  switchyard logs search --level error --status failed`,
    )
    .action((text, options) => searchLogs(session, text, options));
}

function createLevelOption() {
  return new Option('--level <level>', 'Only lines with at least this severity.').choices(LEAST_LOG_LEVELS);
}

async function printLog(session: Session, params: RunParams, options: LogOptions): Promise<void> {
  const { follow, search, level, timestamps = false } = options;
  if (search !== undefined || level !== undefined) {
    if (follow) throw new CommandError('--follow prints every line; leave out --search and --level.');
    if (timestamps)
      throw new CommandError('Matching lines have numbers; leave out --search and --level for their times.');
    return searchLog(session, params, options);
  }
  const { body } = await session.connect().call('getRunMetadata', { params });
  if (isActionAllowed('readLogs', body.status_v2))
    return timestamps ? printTimedLog(session, params) : printWholeLog(session, params);
  if (follow) return followLog(session, params, { timestamps, elapsedMs: body.metadata.duration });
  await printLinesSoFar(session, params, timestamps);
}

async function printWholeLog(session: Session, params: RunParams): Promise<void> {
  const { body } = await session.connect().call('getRunLogs', { params });
  const text = cleanText(body.log);
  session.output.print({ json: body, text: () => text, quiet: () => text.replace(/\n$/, '') });
}

async function printTimedLog(session: Session, params: RunParams): Promise<void> {
  const client = session.connect();
  const { body } = await client.call('getRunLogs', { params });
  const { body: times } = await client.call('getRunLogTimes', { params });
  if (body.log !== '' && times.steps.length === 0)
    throw new CommandError(
      `The server does not know the times of the log of ${params.run_id}. Leave out --timestamps.`,
      EXIT_CODES.failure,
    );
  const lines = timeLines(body.log, times);
  session.output.print({
    json: { items: lines },
    text: () => lines.map((line) => `${formatLine(line, true)}\n`).join(''),
    quiet: () => lines.map((line) => formatLine(line, true)),
  });
}

/** Returns the lines with their times. Each step is the time since the one before, and the number of its lines. */
function timeLines(log: string, { start = '', steps }: ResponseBody<'getRunLogTimes'>): LogLine[] {
  const lines = log.replace(/\n$/, '').split('\n');
  let at = Date.parse(start);
  let line = 0;
  return steps.flatMap(([ms = 0, count = 0]) => {
    at += ms;
    const timestamp = new Date(at).toISOString();
    const timed = lines.slice(line, line + count).map((text) => ({ timestamp, log: text }));
    line += count;
    return timed;
  });
}

function formatLine({ timestamp, log }: LogLine, hasTime: boolean): string {
  return hasTime ? `${timestamp}  ${cleanText(log)}` : cleanText(log);
}

async function followLog(
  session: Session,
  params: RunParams,
  { timestamps, elapsedMs }: { timestamps: boolean; elapsedMs: number },
): Promise<void> {
  const { terminal, output } = session;
  const status = await watchRun(session, params, {
    elapsedMs,
    writeLine: (line) => {
      if (output.form === 'json') output.printJson(line, { isLine: true });
      else terminal.out.write(`${formatLine(line, timestamps)}\n`);
    },
  });
  if (status !== 'succeeded') session.exitCode = EXIT_CODES.failure;
  output.note(`Run ${params.run_id} ${status === 'canceled' ? 'was canceled' : status}.`);
}

/** Prints the lines of a run that has not ended. */
async function printLinesSoFar(session: Session, params: RunParams, hasTimes: boolean): Promise<void> {
  const client = session.connect();
  const items: ResponseBody<'getRunLiveLogs'>['items'] = [];
  let body: ResponseBody<'getRunLiveLogs'>;
  let since: string | undefined;
  do {
    body = (await client.call('getRunLiveLogs', { params, query: since === undefined ? {} : { since } }))
      .body;
    items.push(...body.items);
    since = body.next_page_token;
  } while (body.items.length > 0 && since !== undefined && !isTerminal(body.status_v2));
  const lines = items.map((line) => formatLine(line, hasTimes));
  session.output.print({
    json: { ...body, items },
    text: () => lines.map((line) => `${line}\n`).join(''),
    quiet: () => lines,
  });
}

async function searchLog(session: Session, params: RunParams, { search, level }: LogOptions): Promise<void> {
  const client = session.connect();
  const filters = dropUndefined({ text: search, level });
  const { items } = await readPages(
    Number.POSITIVE_INFINITY,
    async (page) => (await client.call('searchRunLog', { params, query: { ...filters, ...page } })).body,
    LOG_MATCHES_MAX,
  );
  session.output.print({
    json: { items },
    text: () =>
      items.length === 0
        ? `No line of the log of ${params.run_id} matches.\n`
        : formatMatches(items, session.output.style),
    quiet: () => items.map(({ line }) => String(line)),
  });
}

async function searchLogs(
  session: Session,
  text: string | undefined,
  options: RunFilters & { level?: LeastLogLevel; limit: number },
): Promise<void> {
  const { level, limit } = options;
  if (text === undefined && level === undefined)
    throw new CommandError('Give a text, --level or both, such as: switchyard logs search infeasible');
  const application_id = session.findApplication();
  const client = session.connect();
  const filters = { ...buildFilterQuery(options), ...dropUndefined({ text, level }) };
  const counts = { examined_runs: 0, unreadable_runs: 0 };
  const { items, ...rest } = await readPages(
    limit,
    async (page) => {
      const request = { params: { application_id }, query: { ...filters, ...page } };
      const { body } = await client.call('searchLogs', request);
      counts.examined_runs += body.examined_runs;
      counts.unreadable_runs += body.unreadable_runs;
      return body;
    },
    LOG_SEARCH_ITEMS_MAX,
  );
  if (counts.unreadable_runs > 0)
    session.output.warn(`The stored logs of ${counts.unreadable_runs} runs are damaged.`);
  session.output.print({
    json: { items, ...counts, ...rest },
    text: () =>
      items.length === 0
        ? `No log of ${counts.examined_runs} runs has such a line.\n`
        : items.map((item) => formatRunMatches(session, item)).join('\n'),
    quiet: () => items.map(({ run_id }) => run_id),
  });
}

function formatRunMatches(
  session: Session,
  { run_id, name, status_v2, lines, has_more_lines }: RunMatches,
): string {
  const title = [run_id, cleanLine(name), status_v2].filter(Boolean).join('  ');
  const more = has_more_lines ? `… more lines may match: switchyard logs ${run_id} --search TEXT\n` : '';
  return `${session.output.style('strong', title)}\n${formatMatches(lines, session.output.style)}${more}`;
}
