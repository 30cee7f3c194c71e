/**
 * Rounds of creating runs, with and without readers of their logs or streams, for the benchmarks that compare the two. Apps
 * that log a line ten times a second run all the time. Clients create as many runs of a trivial program as the server
 * executes.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import { buildTrivialProgram } from '../runner/containment.ts';
import {
  BENCH_APPLICATION,
  median,
  printLine,
  pushApp,
  quantile,
  type StartedServer,
  startSwitchyard,
} from '../server/harness.ts';
import { closeConnections, sendRequest } from '../server/keep-alive-client.ts';

/** Clients that create runs, one after the other. */
const CREATORS = 8;
/** Maximum number of queued runs: enough to keep every slot busy. */
const QUEUED_MAX = 200;
export const RUNS_PATH = `/v1/applications/${BENCH_APPLICATION}/runs`;
/** A shell script, so that the runs keep the machine busy. The input selects whether it logs or exits at once. */
const LOGGING_MANIFEST = 'type: binary\nruntime: native\nfiles: [main, quick]\n';
const LOGGING_MAIN = `#!/bin/sh
IFS= read -r line
case "$line" in *quick*) exec ./quick;; esac
n=0
while :; do echo "line $n" >&2; n=$((n + 1)); sleep 0.1; done
`;

/** The sizes of a benchmark: readers, runs that log, seconds of a round, and rounds. */
interface RoundSizes {
  readers: number;
  logs: number;
  seconds: number;
  rounds: number;
}

/** Returns the sizes by the flags `--logs`, `--seconds` and `--rounds`, and a flag for the readers. */
export function parseRoundFlags(readersFlag: string): RoundSizes {
  const { values } = parseArgs({
    options: {
      [readersFlag]: { type: 'string', default: '1000' },
      logs: { type: 'string', default: '20' },
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '3' },
    },
  });
  const { logs, seconds, rounds } = values;
  return {
    readers: Number(values[readersFlag]),
    logs: Number(logs),
    seconds: Number(seconds),
    rounds: Number(rounds),
  };
}

/** Starts a server with the app, and stops it when the work has ended. */
export async function withLoggingServer(
  logs: number,
  work: (server: StartedServer) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
  // Each logging run occupies a slot; two slots remain for the created runs.
  const server = await startSwitchyard({ SWITCHYARD_CAPACITY: String(logs + 2) });
  try {
    const quick = readFileSync(buildTrivialProgram(folder));
    const files = { 'app.yaml': LOGGING_MANIFEST, main: LOGGING_MAIN, quick };
    await pushApp(server, await packFiles(files), 'binary');
    await work(server);
  } finally {
    closeConnections();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the number of ended runs and the processor time of the server so far, in ms. */
async function measureServer(server: StartedServer): Promise<{ ended: number; cpuMs: number }> {
  const { text } = await sendRequest(server, 'GET', '/metrics');
  const ended = /^switchyard_runs_finished_total\{status="succeeded"\} (\d+)/m.exec(text)?.[1] ?? '0';
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return { ended: Number(ended), cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 };
}

/** Measurements of one round. `totals` are those of the readers; undefined without any. */
interface Round<Totals> {
  runsPerSecond: number;
  createP50: number;
  createP99: number;
  cpuMsPerSecond: number;
  cpuMsPerRun: number;
  totals: Totals | undefined;
}

/** Creates runs for one round. `startReaders` starts the readers and returns the function that stops them. */
async function measureRound<Totals>(
  server: StartedServer,
  seconds: number,
  startReaders: (() => Promise<() => Promise<Totals>>) | null,
): Promise<Round<Totals>> {
  let isOver = false;
  const stopReaders = await startReaders?.();
  const createMs: number[] = [];
  let created = 0;
  const begin = performance.now();
  const first = await measureServer(server);
  let waiting = 0;
  const watching = (async () => {
    while (!isOver) {
      waiting = created - ((await measureServer(server)).ended - first.ended);
      await sleep(100);
    }
  })();
  const creators = Array.from({ length: CREATORS }, async () => {
    while (!isOver) {
      if (waiting > QUEUED_MAX) {
        await sleep(20);
        continue;
      }
      const sentAt = performance.now();
      const response = await sendRequest(server, 'POST', RUNS_PATH, '{"input":{"quick":true}}');
      if (response.status !== 202)
        throw new Error(`creating a run returned ${response.status}: ${response.text}`);
      createMs.push(performance.now() - sentAt);
      created += 1;
    }
  });
  await sleep(seconds * 1000);
  let last = await measureServer(server);
  // A short round on a busy machine ends after its first run.
  while (last.ended === first.ended || createMs.length === 0) {
    await sleep(20);
    last = await measureServer(server);
  }
  const elapsedSeconds = (performance.now() - begin) / 1000;
  isOver = true;
  await Promise.all([...creators, watching]);
  const totals = await stopReaders?.();
  return {
    runsPerSecond: (last.ended - first.ended) / elapsedSeconds,
    createP50: median(createMs),
    createP99: quantile(createMs, 0.99),
    cpuMsPerSecond: (last.cpuMs - first.cpuMs) / elapsedSeconds,
    cpuMsPerRun: (last.cpuMs - first.cpuMs) / (last.ended - first.ended),
    totals,
  };
}

/** Starts the runs that log and do not end; returns their ids. */
export async function startLogs(server: StartedServer, count: number): Promise<string[]> {
  const created = await Promise.all(
    Array.from({ length: count }, () =>
      sendRequest(server, 'POST', RUNS_PATH, '{"input":{},"configuration":{"queuing":{"priority":1}}}'),
    ),
  );
  const ids = created.map((one) => (JSON.parse(one.text) as { run_id: string }).run_id);
  for (const id of ids) {
    while (
      (
        JSON.parse((await sendRequest(server, 'GET', `${RUNS_PATH}/${id}/metadata`)).text) as {
          status_v2: string;
        }
      ).status_v2 !== 'running'
    )
      await sleep(20);
  }
  return ids;
}

/** A round with readers, and one without. */
export interface RoundPair<Totals> {
  with: Round<Totals>;
  without: Round<unknown>;
}

/** The load beside the creation of runs. Each function starts it, and returns the function that stops it. */
export interface RoundLoads<Totals> {
  startReaders: () => Promise<() => Promise<Totals>>;
  /** Starts the load of a round without readers, by the totals of the last round with them; by default there is none. */
  startOther?: (last: Totals) => Promise<() => Promise<unknown>>;
}

/** Measures pairs of rounds, whose order alternates, after a round that warms up the server. */
export async function measurePairs<Totals>(
  server: StartedServer,
  { seconds, rounds }: { seconds: number; rounds: number },
  { startReaders, startOther }: RoundLoads<Totals>,
): Promise<RoundPair<Totals>[]> {
  let { totals: last } = await measureRound(server, seconds, startOther ? startReaders : null);
  const measureOther = (): Promise<Round<unknown>> => {
    const totals = last;
    return measureRound(
      server,
      seconds,
      startOther && totals !== undefined ? () => startOther(totals) : null,
    );
  };
  const pairs: RoundPair<Totals>[] = [];
  for (let count = 0; count < rounds; count += 1) {
    const before = count % 2 === 0 ? await measureOther() : undefined;
    const read = await measureRound(server, seconds, startReaders);
    last = read.totals;
    pairs.push({ with: read, without: before ?? (await measureOther()) });
  }
  return pairs;
}

/** Prints what the readers cost. */
export function printComparisons(pairs: readonly RoundPair<unknown>[]): void {
  printComparison('runs created and executed in a second', '/s', (one) => one.runsPerSecond, pairs);
  printComparison('creating a run, median', 'ms', (one) => one.createP50, pairs);
  printComparison('creating a run, 99th percentile', 'ms', (one) => one.createP99, pairs);
  printComparison('processor time of the server', 'ms/s', (one) => one.cpuMsPerSecond, pairs);
  printComparison('processor time of the server for each run', 'ms', (one) => one.cpuMsPerRun, pairs);
}

/** Prints the median of both kinds of rounds, and of their ratio. */
function printComparison(
  name: string,
  unit: string,
  of: (round: Round<unknown>) => number,
  rounds: readonly RoundPair<unknown>[],
): void {
  const one = median(rounds.map((both) => of(both.with)));
  const other = median(rounds.map((both) => of(both.without)));
  const ratio = median(rounds.map((both) => of(both.with) / of(both.without)));
  printLine(
    `${name.padEnd(58)} ${one.toFixed(1).padStart(7)} ${unit}  baseline ${other.toFixed(1).padStart(7)} ${unit}  ratio ${ratio.toFixed(2)}`,
  );
}
