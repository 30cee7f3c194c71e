/**
 * `npm run bench -- console`: measures the budgets of the console in a browser. The baseline is an empty page of the
 * same server in the same run.
 *
 * - `--lines` and `--points`: the length of the log, and of the chart.
 * - `--seconds`: how long the chart is watched.
 * - `--visits`, `--pages`, `--rows` and `--delays`: how many are measured. `--pages` are those beside the first and of a run.
 * - `--slowdown`: by how much the processor is slowed.
 */
import { parseArgs } from 'node:util';
import { hasBrowser, launchBrowser } from '@switchyard/browser-testing/browser.ts';
import { buildConsole } from '@switchyard/console/build.ts';
import { median, printLine, startSwitchyard } from '../server/harness.ts';
import { finishRun, formatRunPath, pushConsoleApp } from './console-app.ts';
import { measureWeight, type PageWeight } from './measure-files.ts';
import { measureChart, measureDelay } from './measure-live.ts';
import { measureLog } from './measure-log.ts';
import { measureEmptyPage, measureRunPage } from './measure-run-page.ts';
import type { Bench } from './visits.ts';

const { values: flags } = parseArgs({
  options: {
    lines: { type: 'string', default: '1000000' },
    points: { type: 'string', default: '100000' },
    visits: { type: 'string', default: '5' },
    pages: { type: 'string', default: '5' },
    rows: { type: 'string', default: '50' },
    delays: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '5' },
    slowdown: { type: 'string', default: '4' },
  },
});
const LINES = Number(flags.lines);
const POINTS = Number(flags.points);
const VISITS = Number(flags.visits);
const ROWS = Number(flags.rows);
const PAGES = Number(flags.pages);
const SLOW_API_MS = 2_000;
const CPU_SLOWDOWN = Number(flags.slowdown);

/** A budget and what was measured. */
interface Row {
  what: string;
  budget: string;
  measured: string;
}

/** Calls `measure` once for each visit, and returns the median. */
async function repeat(measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let visit = 0; visit < VISITS; visit += 1) values.push(await measure());
  return median(values);
}

const ms = (value: number): string => `${value.toFixed(0)} ms`;

/** Measures what the pages load: those of the budgets, and the one with the most files. */
async function measureWeights(bench: Bench, run: string): Promise<Row[]> {
  for (let row = 1; row < ROWS; row += 1) await finishRun(bench.server, 'log', 1);
  const application = '/apps/console-bench';
  const weigh = (path: string, text: string) => measureWeight(bench, { path, text });
  const first = await weigh('/', 'App console-bench');
  const runPage = await weigh(formatRunPath(run), 'Succeeded');
  const runs = await weigh(`${application}/runs`, run);
  const paths = {
    [application]: 'Instances',
    [`${application}/experiments`]: 'Experiments',
    [`${application}/new-experiment`]: 'New experiment',
    [`${application}/compare?runs=${run}`]: 'Compare',
    '/queue': 'Queue',
  };
  const others: PageWeight[] = [];
  for (const [path, text] of Object.entries(paths).slice(0, PAGES)) others.push(await weigh(path, text));
  for (let row = 1; row < ROWS; row += 1)
    await bench.server.client.call('createApplication', {
      body: { id: `empty-${row}`, name: `Empty ${row}` },
    });
  const applications = await weigh('/', 'App console-bench');
  const kilobytes = ({ scriptKilobytes }: PageWeight): string => `${scriptKilobytes.toFixed(0)} kB`;
  const most = [first, runPage, runs, ...others].reduce((a, b) => (b.files > a.files ? b : a));
  return [
    { what: 'script of the first page, compressed', budget: '150 kB', measured: kilobytes(first) },
    { what: 'script of a run page', budget: '250 kB', measured: kilobytes(runPage) },
    {
      what: 'scripts and style sheets of a page',
      budget: '15',
      measured: `${first.files} of the first page, ${most.files} of the page with most (${most.path})`,
    },
    { what: `requests to open a list of ${ROWS} runs`, budget: '3', measured: String(runs.requests) },
    {
      what: `requests to open a list of ${ROWS} applications`,
      budget: '3',
      measured: String(applications.requests),
    },
  ];
}

async function measureAll(bench: Bench): Promise<Row[]> {
  const short = await finishRun(bench.server, 'log', 100);
  const weights = await measureWeights(bench, short);
  const paint = await repeat(async () => {
    const page = { path: '/', text: 'App console-bench', apiMs: SLOW_API_MS };
    return (await measureWeight(bench, page)).paintMs;
  });
  const empty = await repeat(() => measureEmptyPage(bench, CPU_SLOWDOWN));
  const runPage = await repeat(() => measureRunPage(bench, short, CPU_SLOWDOWN));
  const log = await measureLog(bench, await finishRun(bench.server, 'log', LINES), LINES);
  const chart = await measureChart(bench, POINTS, Number(flags.seconds));
  const delays = await measureDelay(bench, Number(flags.delays));
  const number = new Intl.NumberFormat('en-GB');
  return [
    ...weights,
    {
      what: `first paint of the shell with an API that takes ${SLOW_API_MS} ms`,
      budget: '300 ms',
      measured: ms(paint),
    },
    {
      what: `run page until it is idle, processor slowed ${CPU_SLOWDOWN} times`,
      budget: '1500 ms',
      measured: `${ms(runPage)}, ratio ${(runPage / empty).toFixed(1)} to an empty page`,
    },
    {
      what: `log of ${number.format(LINES)} lines opens`,
      budget: '1000 ms',
      measured: `${ms(log.openMs)}, all lines after ${ms(log.wholeMs)}`,
    },
    { what: 'longest frame while it scrolls', budget: '50 ms', measured: ms(log.longestFrameMs) },
    { what: 'search in it', budget: '500 ms', measured: ms(log.searchMs) },
    {
      what: `longest frame of a chart of ${number.format(POINTS)} points, ten updates a second`,
      budget: '50 ms',
      measured: ms(chart),
    },
    {
      what: 'from the line of an app to its pixels',
      budget: '300 ms',
      measured: `${ms(median(delays))} (median), ${ms(Math.max(...delays))} (longest)`,
    },
  ];
}

if (!hasBrowser) {
  printLine('SKIPPING the benchmark of the console: no Chromium is installed.');
  process.exit();
}
await using stack = new AsyncDisposableStack();
await buildConsole();
const server = await startSwitchyard({});
stack.defer(() => server.stop());
const browser = await launchBrowser();
stack.defer(() => browser.close());
await pushConsoleApp(server);
const rows = await measureAll({ server, browser });
printLine(
  `Chromium ${browser.version()}, Node ${process.version.slice(1)}. Medians of ${VISITS} visits, empty cache.`,
);
printLine('\n| what | budget | measured |\n| --- | --- | --- |');
for (const { what, budget, measured } of rows) printLine(`| ${what} | ${budget} | ${measured} |`);
