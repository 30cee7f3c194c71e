/**
 * `npm run bench -- followers`: the effect of a thousand clients that follow logs on clients that create runs. Apps
 * that log a line ten times a second run all the time. Each follower polls `logs/live` of one of them as the published
 * client does, with its `since` and the delay in the response. Meanwhile, clients create as many runs of a trivial
 * program as the server executes. Rounds with and without followers alternate; the ratio is with to without.
 *
 * The benchmark checks that each line of a log comes once and in order. Flags: `--followers`, `--logs` to follow,
 * `--seconds` of a round, `--rounds`.
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
/** Clients that create runs, one after the other. */
const CREATORS = 8;
/** Maximum number of queued runs: enough to keep every slot busy. */
const QUEUED_MAX = 200;
/** Followers connect one after the other within this time: a thousand of them within three seconds. */
const RAMP_UP_MS = FOLLOWERS * 3;
const PATH = `/v1/applications/${BENCH_APPLICATION}/runs`;
/** A shell script, so that the runs keep the machine busy. The input selects whether it logs or exits at once. */
const MANIFEST = 'type: binary\nruntime: native\nfiles: [main, quick]\n';
const MAIN = `#!/bin/sh
IFS= read -r line
case "$line" in *quick*) exec ./quick;; esac
n=0
while :; do echo "line $n" >&2; n=$((n + 1)); sleep 0.1; done
`;
/** Returns the number of ended runs and the processor time of the server so far, in ms. */
async function measureServer(server: StartedServer): Promise<{ ended: number; cpuMs: number }> {
  const { text } = await sendRequest(server, 'GET', '/metrics');
  const ended = /^switchyard_runs_finished_total\{status="succeeded"\} (\d+)/m.exec(text)?.[1] ?? '0';
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return { ended: Number(ended), cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 };
}

/** Starts the followers in their thread and waits until all are connected. Returns a function that stops them. */
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
  const receiveMessage = <T>(): Promise<T> =>
    Promise.race([new Promise<T>((resolve) => thread.once('message', resolve)), failed]);
  await receiveMessage();
  await Promise.race([sleep(RAMP_UP_MS * 1.5), failed]);
  return () => {
    const totals = receiveMessage<FollowerTotals>();
    thread.postMessage('stop');
    return totals;
  };
}

interface Round {
  runsPerSecond: number;
  createP50: number;
  createP99: number;
  cpuMsPerSecond: number;
  tally: FollowerTotals;
}

/** Creates runs for one round with this number of followers. */
async function measureRound(
  server: StartedServer,
  logs: readonly string[],
  followers: number,
): Promise<Round> {
  let isOver = false;
  const followed = followers === 0 ? undefined : await startFollowers(server, logs, followers);
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
      const response = await sendRequest(server, 'POST', PATH, '{"input":{"quick":true}}');
      if (response.status !== 202)
        throw new Error(`creating a run returned ${response.status}: ${response.text}`);
      createMs.push(performance.now() - sentAt);
      created += 1;
    }
  });
  await sleep(SECONDS * 1000);
  const last = await measureServer(server);
  const seconds = (performance.now() - begin) / 1000;
  isOver = true;
  await Promise.all([...creators, watching]);
  const tally = (await followed?.()) ?? { polls: 0, lines: 0, pollMs: [] };
  return {
    runsPerSecond: (last.ended - first.ended) / seconds,
    createP50: median(createMs),
    createP99: quantile(createMs, 0.99),
    cpuMsPerSecond: (last.cpuMs - first.cpuMs) / seconds,
    tally,
  };
}

/** Starts the runs that log and do not end; returns their ids. */
async function startLogs(server: StartedServer): Promise<string[]> {
  const created = await Promise.all(
    Array.from({ length: LOGS }, () =>
      sendRequest(server, 'POST', PATH, '{"input":{},"configuration":{"queuing":{"priority":1}}}'),
    ),
  );
  const ids = created.map((one) => (JSON.parse(one.text) as { run_id: string }).run_id);
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
// Each logging run occupies a slot; two slots remain for the created runs.
const server = await startSwitchyard({ SWITCHYARD_CAPACITY: String(LOGS + 2) });
try {
  await pushApp(
    server,
    await packFiles({ 'app.yaml': MANIFEST, main: MAIN, quick: readFileSync(buildTrivialProgram(folder)) }),
    'binary',
  );
  const logs = await startLogs(server);
  await measureRound(server, logs, 0);
  const rounds: { without: Round; with: Round }[] = [];
  for (let count = 0; count < ROUNDS; count += 1) {
    const isFirst = count % 2 === 0;
    const before = isFirst ? await measureRound(server, logs, 0) : undefined;
    const followed = await measureRound(server, logs, FOLLOWERS);
    rounds.push({ with: followed, without: before ?? (await measureRound(server, logs, 0)) });
  }
  printLine(`${FOLLOWERS} followers of ${LOGS} logs against none`);
  compare('runs created and executed in a second', '/s', (one) => one.runsPerSecond, rounds);
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
