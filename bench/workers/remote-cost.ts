/**
 * The cost of a run through a remote worker against the worker of the server's process: the same trivial program, on the same
 * machine, with the same slots. Rounds alternate.
 */
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { createWorkerToken, startWorkerProcess } from '../../server/testing/servers/worker-process.ts';
import {
  BINARY_MANIFEST,
  createRun,
  median,
  printLine,
  pushApp,
  type StartedServer,
  startSwitchyard,
  waitForEndedRuns,
} from '../server/harness.ts';

const SLOTS = 2;
const POLL_MS = 10;
const APP = '#!/bin/sh\necho "{}"\n';

interface Side {
  server: StartedServer;
  ended: number;
}

/** Prints how much longer the runs take through a remote worker. */
export async function compareWithOwnWorker({
  runs,
  rounds,
}: {
  runs: number;
  rounds: number;
}): Promise<void> {
  const own = await startSide(String(SLOTS));
  const remote = await startSide('0');
  const { token } = await createWorkerToken(remote.server);
  const worker = startWorkerProcess(remote.server.url, token, ['--slots', String(SLOTS)]);
  try {
    await worker.waitForLine('Worker registered');
    const ratios: number[] = [];
    const seconds: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const order = round % 2 === 0 ? [own, remote] : [remote, own];
      const times = new Map<Side, number>();
      for (const side of order) times.set(side, await execute(side, runs));
      // The first round unpacks the executable and warms both up.
      if (round === 0) continue;
      ratios.push((times.get(remote) ?? 0) / (times.get(own) ?? 1));
      seconds.push(times.get(remote) ?? 0);
    }
    printLine(
      `${runs} trivial runs through a remote worker, ${SLOTS} slots: ${(median(seconds) * 1000).toFixed(0)} ms, ${median(ratios).toFixed(2)} times as long as through the server's own worker`,
    );
  } finally {
    await worker.stop();
    await own.server.stop();
    await remote.server.stop();
  }
}

async function startSide(capacity: string): Promise<Side> {
  const server = await startSwitchyard({ SWITCHYARD_CAPACITY: capacity, SWITCHYARD_RATE_LIMIT: '0' });
  await pushApp(server, await packFiles({ 'app.yaml': BINARY_MANIFEST, main: APP }), 'binary');
  return { server, ended: 0 };
}

/** Returns the seconds from the first request to the last end. */
async function execute(side: Side, runs: number): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: runs }, () => createRun(side.server)));
  side.ended += runs;
  await waitForEndedRuns(side.server, side.ended, POLL_MS);
  return (performance.now() - start) / 1000;
}
