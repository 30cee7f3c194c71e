/**
 * `npm run bench -- console`: measures the budgets of the console in a browser. The baseline is an empty page of the
 * same server in the same run. Flags: `--lines` of the long log; `--points` of the chart and `--seconds` that it is watched;
 * `--visits` of each page; `--delays` that are measured; `--slowdown` of the processor.
 */
import { parseArgs } from 'node:util';
import { hasBrowser, launchBrowser } from '@switchyard/browser-testing/browser.ts';
import { buildConsole } from '@switchyard/console/build.ts';
import { median, printLine, startSwitchyard } from '../server/harness.ts';
import { finishRun, pushConsoleApp } from './console-app.ts';
import { measureEmptyPage, measureFirstPageScript } from './measure-first-page.ts';
import { measureChart, measureDelay } from './measure-live.ts';
import { measureLog } from './measure-log.ts';
import { measureRunPage } from './measure-run-page.ts';
import type { Bench } from './visits.ts';

const { values: flags } = parseArgs({
  options: {
    lines: { type: 'string', default: '1000000' },
    points: { type: 'string', default: '100000' },
    visits: { type: 'string', default: '5' },
    delays: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '5' },
    slowdown: { type: 'string', default: '4' },
  },
});
const LINES = Number(flags.lines);
const POINTS = Number(flags.points);
const VISITS = Number(flags.visits);
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

async function measureAll(bench: Bench): Promise<Row[]> {
  const short = await finishRun(bench.server, 'log', 100);
  const script = await measureFirstPageScript(bench);
  const empty = await repeat(() => measureEmptyPage(bench, CPU_SLOWDOWN));
  const runPage = await repeat(() => measureRunPage(bench, short, CPU_SLOWDOWN));
  const log = await measureLog(bench, await finishRun(bench.server, 'log', LINES), LINES);
  const chart = await measureChart(bench, POINTS, Number(flags.seconds));
  const delays = await measureDelay(bench, Number(flags.delays));
  const number = new Intl.NumberFormat('en-GB');
  return [
    { what: 'script of the first page, compressed', budget: '150 kB', measured: `${script.toFixed(0)} kB` },
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
