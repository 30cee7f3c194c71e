/**
 * `npm run bench -- followers`: the effect of a thousand clients that follow logs on clients that create runs. Apps
 * that log a line ten times a second run all the time. Each follower polls `logs/live` of one of them as the published
 * client does, with its `since` and the delay in the response. Meanwhile, clients create as many runs of a trivial
 * program as the server executes. Rounds with and without followers alternate; the ratio is with to without.
 *
 * The benchmark checks that each line of a log comes once and in order. Flags: `--followers`, `--logs` to follow,
 * `--seconds` of a round, `--rounds`.
 */
import { Worker } from 'node:worker_threads';
import { sleep } from '../../server/testing/host/sleep.ts';
import { median, printLine, quantile, type StartedServer } from '../server/harness.ts';
import {
  measurePairs,
  parseRoundFlags,
  printComparisons,
  RUNS_PATH,
  startLogs,
  withLoggingServer,
} from './creation-rounds.ts';
import type { FollowerJob, FollowerTotals } from './followers-thread.ts';

const { readers: FOLLOWERS, logs: LOGS, ...ROUNDS } = parseRoundFlags('followers');
/** Followers connect one after the other within this time: a thousand of them within three seconds. */
const RAMP_UP_MS = FOLLOWERS * 3;

/** Starts the followers in their thread and waits until all are connected. Returns a function that stops them. */
async function startFollowers(
  server: StartedServer,
  logs: readonly string[],
  followers: number,
): Promise<() => Promise<FollowerTotals>> {
  const { url, token } = server;
  const paths = logs.map((run) => `${RUNS_PATH}/${run}`);
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

await withLoggingServer(LOGS, async (server) => {
  const logs = await startLogs(server, LOGS);
  const rounds = await measurePairs(server, ROUNDS, {
    startReaders: () => startFollowers(server, logs, FOLLOWERS),
  });
  printLine(`${FOLLOWERS} followers of ${LOGS} logs against none`);
  printComparisons(rounds);
  const tallies = rounds.flatMap((one) => one.with.totals ?? []);
  const sum = (of: (tally: FollowerTotals) => number): number =>
    tallies.reduce((all, one) => all + of(one), 0);
  const pollMs = tallies.flatMap((one) => one.pollMs);
  printLine(
    `${sum((one) => one.polls)} polls gave ${sum((one) => one.lines)} lines, each once and in order; a poll took ${median(pollMs).toFixed(1)} ms, at the 99th percentile ${quantile(pollMs, 0.99).toFixed(1)} ms`,
  );
});
