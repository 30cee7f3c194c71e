/**
 * `npm run bench -- followers`: whether a thousand clients that follow the logs of running runs slow down those who make
 * runs. Apps that log a line ten times a second run all the while; each follower polls `logs/live` of one of them as the
 * published client does, from its `since` on and again when the answer says. Meanwhile runs of a trivial program are made
 * and executed, as many as go through. Rounds with and without followers alternate; the ratio is with to without.
 *
 * Each line of a log is checked to have come once and in order. `--followers`, `--logs` that they follow, `--seconds` of a
 * round, `--rounds`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import { buildTrivialProgram } from '../runner/containment.ts';
import type { FollowerJob, FollowerTotals } from './followers-thread.ts';
import {
  BENCH_APPLICATION,
  median,
  printLine,
  pushApp,
  quantile,
  type StartedServer,
  startSwitchyard,
} from './harness.ts';
import { closeConnections, sendRequest } from './keep-alive-client.ts';

const { values } = parseArgs({
  options: {
    followers: { type: 'string', default: '1000' },
    logs: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
  },
});
const FOLLOWERS = Number(values.followers);
const LOGS = Number(values.logs);
const SECONDS = Number(values.seconds);
const ROUNDS = Number(values.rounds);
/** Clients that make runs, each the next when the one before was answered. */
const MAKERS = 8;
/** Runs that may wait: enough that none of the slots is ever idle. */
const WAITING_MAX = 200;
/** Followers connect one after the other over this time: a thousand of them over three seconds. */
const RAMP_UP_MS = FOLLOWERS * 3;
const PATH = `/v1/applications/${BENCH_APPLICATION}/runs`;
/** A shell script: the machine is to be busy with runs. What it is given says whether it logs or is over at once. */
const MANIFEST = 'type: binary\nruntime: native\nfiles: [main, quick]\n';
const MAIN = `#!/bin/sh
IFS= read -r line
case "$line" in *quick*) exec ./quick;; esac
n=0
while :; do echo "line $n" >&2; n=$((n + 1)); sleep 0.1; done
`;
/** Runs that have ended by now, and the processor time that the server itself has taken, in ms. */
async function measured(server: StartedServer): Promise<{ ended: number; cpuMs: number }> {
  const { text } = await sendRequest(server, 'GET', '/metrics');
  const ended = /^switchyard_runs_finished_total\{status="succeeded"\} (\d+)/m.exec(text)?.[1] ?? '0';
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return { ended: Number(ended), cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 };
}

/** Starts the followers in their thread, and waits until all of them have come in; answers how to stop them. */
async function startFollowers(
  server: StartedServer,
  logs: readonly string[],
  followers: number,
): Promise<() => Promise<FollowerTotals>> {
  const { url, token } = server;
  const paths = logs.map((run) => `${PATH}/${run}`);
  const workerData: FollowerJob = { server: { url, token }, paths, followers, rampUpMs: RAMP_UP_MS };
  const thread = new Worker(new URL('./followers-thread.ts', import.meta.url), { workerData });
  const failed = new Promise<never>((_, reject) => thread.once('error', reject));
  const heard = <T>(): Promise<T> =>
    Promise.race([new Promise<T>((resolve) => thread.once('message', resolve)), failed]);
  await heard();
  await Promise.race([sleep(RAMP_UP_MS * 1.5), failed]);
  return () => {
    const told = heard<FollowerTotals>();
    thread.postMessage('stop');
    return told;
  };
}

interface Round {
  runsPerSecond: number;
  createP50: number;
  createP99: number;
  cpuMsPerSecond: number;
  tally: FollowerTotals;
}

/** Makes runs for a while, with so many followers. */
async function round(server: StartedServer, logs: readonly string[], followers: number): Promise<Round> {
  let over = false;
  const followed = followers === 0 ? undefined : await startFollowers(server, logs, followers);
  const createMs: number[] = [];
  let made = 0;
  const begin = performance.now();
  const first = await measured(server);
  let waiting = 0;
  const watching = (async () => {
    while (!over) {
      waiting = made - ((await measured(server)).ended - first.ended);
      await sleep(100);
    }
  })();
  const making = Array.from({ length: MAKERS }, async () => {
    while (!over) {
      if (waiting > WAITING_MAX) {
        await sleep(20);
        continue;
      }
      const asked = performance.now();
      const answer = await sendRequest(server, 'POST', PATH, '{"input":{"quick":true}}');
      if (answer.status !== 202) throw new Error(`the run answered ${answer.status}: ${answer.text}`);
      createMs.push(performance.now() - asked);
      made += 1;
    }
  });
  await sleep(SECONDS * 1000);
  const last = await measured(server);
  const seconds = (performance.now() - begin) / 1000;
  over = true;
  await Promise.all([...making, watching]);
  const tally = (await followed?.()) ?? { polls: 0, lines: 0, pollMs: [] };
  return {
    runsPerSecond: (last.ended - first.ended) / seconds,
    createP50: median(createMs),
    createP99: quantile(createMs, 0.99),
    cpuMsPerSecond: (last.cpuMs - first.cpuMs) / seconds,
    tally,
  };
}

/** Runs that log and do not end. */
async function startLogs(server: StartedServer): Promise<string[]> {
  const made = await Promise.all(
    Array.from({ length: LOGS }, () =>
      sendRequest(server, 'POST', PATH, '{"input":{},"configuration":{"queuing":{"priority":1}}}'),
    ),
  );
  const ids = made.map((one) => (JSON.parse(one.text) as { run_id: string }).run_id);
  for (const id of ids) {
    while (
      (JSON.parse((await sendRequest(server, 'GET', `${PATH}/${id}/metadata`)).text) as { status_v2: string })
        .status_v2 !== 'running'
    )
      await sleep(20);
  }
  return ids;
}

function compare(
  name: string,
  unit: string,
  of: (round: Round) => number,
  rounds: readonly { without: Round; with: Round }[],
): void {
  const one = median(rounds.map((both) => of(both.with)));
  const other = median(rounds.map((both) => of(both.without)));
  const ratio = median(rounds.map((both) => of(both.with) / of(both.without)));
  printLine(
    `${name.padEnd(58)} ${one.toFixed(1).padStart(7)} ${unit}  baseline ${other.toFixed(1).padStart(7)} ${unit}  ratio ${ratio.toFixed(2)}`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
// The runs that log hold a slot each; two are left for those that are made.
const server = await startSwitchyard({ SWITCHYARD_CAPACITY: String(LOGS + 2) });
try {
  await pushApp(
    server,
    await packFiles({ 'app.yaml': MANIFEST, main: MAIN, quick: readFileSync(buildTrivialProgram(folder)) }),
    'binary',
  );
  const logs = await startLogs(server);
  await round(server, logs, 0);
  const rounds: { without: Round; with: Round }[] = [];
  for (let count = 0; count < ROUNDS; count += 1) {
    const isFirst = count % 2 === 0;
    const before = isFirst ? await round(server, logs, 0) : undefined;
    const followed = await round(server, logs, FOLLOWERS);
    rounds.push({ with: followed, without: before ?? (await round(server, logs, 0)) });
  }
  printLine(`${FOLLOWERS} followers of ${LOGS} logs against none`);
  compare('runs made and executed in a second', '/s', (one) => one.runsPerSecond, rounds);
  compare('creating a run, median', 'ms', (one) => one.createP50, rounds);
  compare('creating a run, 99th percentile', 'ms', (one) => one.createP99, rounds);
  compare('processor time of the server', 'ms/s', (one) => one.cpuMsPerSecond, rounds);
  const tallies = rounds.map((one) => one.with.tally);
  const sum = (of: (tally: FollowerTotals) => number): number =>
    tallies.reduce((all, one) => all + of(one), 0);
  const pollMs = tallies.flatMap((one) => one.pollMs);
  printLine(
    `${sum((one) => one.polls)} polls gave ${sum((one) => one.lines)} lines, each once and in order; a poll took ${median(pollMs).toFixed(1)} ms, at the 99th percentile ${quantile(pollMs, 0.99).toFixed(1)} ms`,
  );
} finally {
  closeConnections();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
