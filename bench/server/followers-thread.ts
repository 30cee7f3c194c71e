/**
 * The followers of the benchmark, in a thread of their own, so that the clients that make runs do not wait for them. They
 * begin where the logs are now, come in over the time given, and go on until told to stop; then the thread says what they
 * saw. A line that is missing, repeated or out of order ends the thread with an error.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import { closeConnections, sendRequest } from './keep-alive-client.ts';

export interface FollowerJob {
  server: { url: string; token: string };
  /** The paths of the runs whose logs are followed. */
  paths: string[];
  followers: number;
  /** Over how many milliseconds they come in. */
  rampUpMs: number;
}

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

async function ask(path: string, since: string): Promise<LiveLog> {
  const answer = await sendRequest(server, 'GET', `${path}/logs/live${since && `?since=${since}`}`);
  if (answer.status !== 200) throw new Error(`following ${path} answered ${answer.status}: ${answer.text}`);
  return JSON.parse(answer.text) as LiveLog;
}

/** Where the log is now: the place, and the number of the line that comes next. */
async function endOf(path: string): Promise<{ since: string; next: number }> {
  let since = '';
  let next = 0;
  for (;;) {
    const page = await ask(path, since);
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
    const page = await ask(path, since);
    tally.pollMs.push(performance.now() - begin);
    tally.polls += 1;
    tally.lines += page.items.length;
    for (const { log } of page.items) {
      if (log !== `line ${next}`) throw new Error(`${path} shows "${log}" in place of line ${next}`);
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
const places = await Promise.all(paths.map(async (path) => ({ path, from: await endOf(path) })));
const following = Array.from({ length: followers }, (_, n) => {
  const place = places[n % places.length];
  return place ? follow(place.path, place.from) : Promise.resolve();
});
parentPort?.postMessage('ready');
await Promise.all(following);
closeConnections();
parentPort?.postMessage(tally);
