/**
 * The followers of the benchmark, in a separate thread, so that they do not slow down the clients that create runs.
 * They begin at the present end of the logs, connect within the ramp-up time, and poll until the message to stop. Then
 * the thread reports the totals. A missing, repeated or unordered line ends the thread with an error.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import { closeConnections, sendRequest } from '../server/keep-alive-client.ts';

/** Start data of the thread. */
export interface FollowerJob {
  server: { url: string; token: string };
  /** Paths of the followed runs. */
  paths: string[];
  followers: number;
  /** Ramp-up time in milliseconds. */
  rampUpMs: number;
}

/** Totals of all followers; `pollMs` are the durations of single polls. */
export interface FollowerTotals {
  polls: number;
  lines: number;
  pollMs: number[];
}

const { server, paths, followers, rampUpMs: comeInMs } = workerData as FollowerJob;
const tally: FollowerTotals = { polls: 0, lines: 0, pollMs: [] };
let isOver = false;
let stop = (): void => {};
const over = new Promise<void>((resolve) => {
  stop = resolve;
});

async function poll(path: string, since: string): Promise<LiveLog> {
  const response = await sendRequest(server, 'GET', `${path}/logs/live${since && `?since=${since}`}`);
  if (response.status !== 200)
    throw new Error(`following ${path} returned ${response.status}: ${response.text}`);
  return JSON.parse(response.text) as LiveLog;
}

/** Returns the end of the log: its token, and the number of the next line. */
async function findEnd(path: string): Promise<{ since: string; next: number }> {
  let since = '';
  let next = 0;
  for (;;) {
    const page = await poll(path, since);
    since = page.next_page_token ?? since;
    next += page.items.length;
    if (page.items.length === 0) return { since, next };
  }
}

async function follow(path: string, from: { since: string; next: number }): Promise<void> {
  let { since, next } = from;
  await sleep(Math.random() * comeInMs);
  while (!isOver) {
    const begin = performance.now();
    const page = await poll(path, since);
    tally.pollMs.push(performance.now() - begin);
    tally.polls += 1;
    tally.lines += page.items.length;
    for (const { log } of page.items) {
      if (log !== `line ${next}`) throw new Error(`${path} shows "${log}" instead of line ${next}`);
      next += 1;
    }
    since = page.next_page_token ?? since;
    await Promise.race([sleep(page.next_available_in_seconds * 1000), over]);
  }
}

parentPort?.once('message', () => {
  isOver = true;
  stop();
});
const places = await Promise.all(paths.map(async (path) => ({ path, from: await findEnd(path) })));
const following = Array.from({ length: followers }, (_, n) => {
  const place = places[n % places.length];
  return place ? follow(place.path, place.from) : Promise.resolve();
});
parentPort?.postMessage('ready');
await Promise.all(following);
closeConnections();
parentPort?.postMessage(tally);
