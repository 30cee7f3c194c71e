/**
 * `npm run bench`: the cost of the server, as ratios to a baseline from the same run on the same machine.
 *
 * - Creating a run and reading its metadata by HTTP, against bare Fastify with the same response bytes. The server has
 *   no slots, so the created runs stay queued, and the figure covers the request with its durable commit.
 * - Runs of a trivial program through the whole server and its API. The baselines are bare starts of the same program in
 *   the same containment, and the runner alone; bench/runner/containment.ts measures both.
 *
 * `bench/benchmarks.json` lists the other benchmarks.
 *
 * Rounds alternate between server and baseline; the figures are medians. Flags: `--seconds` of a round, `--rounds`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { benchmarkRunner, buildTrivialProgram } from '../runner/containment.ts';
import {
  BENCH_APPLICATION,
  BINARY_MANIFEST,
  createRuns,
  median,
  printRatio,
  pushApp,
  ROUTING_INPUT,
  type StartedServer,
  sampleIntervalMs,
  startBareFastify,
  startSwitchyard,
  waitForEndedRuns,
} from './harness.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    runs: { type: 'string', default: '400' },
  },
});
const SECONDS = Number(values.seconds);
const ROUNDS = Number(values.rounds);
const RUNS = Number(values.runs);
const CONNECTIONS = 64;
/** Constant polling would be most of the measured load. */
const POLL_MS = 25;

interface Load {
  url: string;
  method: 'GET' | 'POST';
  token?: string;
  body?: string;
}

/** Returns the successful requests per second. Throws if a request failed. */
async function measure(load: Load): Promise<number> {
  const result = await autocannon({
    url: load.url,
    method: load.method,
    connections: CONNECTIONS,
    duration: SECONDS,
    sampleInt: sampleIntervalMs(SECONDS),
    headers: {
      'content-type': 'application/json',
      ...(load.token ? { authorization: `Bearer ${load.token}` } : {}),
    },
    ...(load.body ? { body: load.body } : {}),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${load.method} ${load.url}: ${result.non2xx} refused, ${result.errors} failed`);
  return result['2xx'] / result.duration;
}

/** Alternates rounds of both. The order changes every round, so that neither always runs on a warmer machine. */
async function compare(
  name: string,
  ours: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<void> {
  const rounds: { ours: number; baseline: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = round % 2 === 0 ? await baseline() : null;
    const own = await ours();
    rounds.push({ ours: own, baseline: first ?? (await baseline()) });
  }
  const own = median(rounds.map((one) => one.ours));
  const base = median(rounds.map((one) => one.baseline));
  const ratio = median(rounds.map((one) => one.ours / one.baseline));
  printRatio(name, own, base, ratio);
}

async function benchRequests(): Promise<void> {
  const server = await startSwitchyard({ SWITCHYARD_CAPACITY: '0,16c60gb12h=1' });
  const bare = await startBareFastify();
  try {
    await pushApp(server, await packFiles({ 'app.yaml': BINARY_MANIFEST, main: '#!/bin/sh\n' }), 'binary');
    const { client } = server;
    const created = await client.call('createRun', {
      params: { application_id: BENCH_APPLICATION },
      body: { input: ROUTING_INPUT },
    });
    const path = `/v1/applications/${BENCH_APPLICATION}/runs`;
    const metadataPath = `${path}/${created.body.run_id}/metadata`;
    const metadata = await fetch(`${server.url}${metadataPath}`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    await fetch(`${bare.url}/metadata`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: await metadata.text(),
    });

    const body = JSON.stringify({ input: ROUTING_INPUT, options: { duration: '2' } });
    const { token } = server;
    await compare(
      'create a run (durable) vs bare Fastify',
      () => measure({ url: `${server.url}${path}`, method: 'POST', token, body }),
      () => measure({ url: `${bare.url}${path}`, method: 'POST', body }),
    );
    await compare(
      "read a run's metadata vs bare Fastify",
      () => measure({ url: `${server.url}${metadataPath}`, method: 'GET', token }),
      () => measure({ url: `${bare.url}${metadataPath}`, method: 'GET' }),
    );
  } finally {
    bare.stop();
    await server.stop();
  }
}

/** Returns the runs per second of a trivial program: creates all runs, then measures until the last has ended. */
async function runsPerSecond(server: StartedServer): Promise<number> {
  const begin = performance.now();
  await createRuns(server, RUNS);
  done += RUNS;
  await waitForEndedRuns(server, done, POLL_MS);
  return (RUNS / (performance.now() - begin)) * 1000;
}
let done = 0;

async function trivialArchive(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
  try {
    return await packFiles({ 'app.yaml': BINARY_MANIFEST, main: readFileSync(buildTrivialProgram(folder)) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchRuns(): Promise<void> {
  for (const bare of await benchmarkRunner(undefined, { rounds: ROUNDS, runs: RUNS })) {
    printRatio(
      `runs through the runner alone, ${bare.containment}, vs bare starts`,
      bare.runsPerSecond,
      bare.bareStartsPerSecond,
      bare.ratio,
    );
    const server = await startSwitchyard({ SWITCHYARD_CONTAINMENT: bare.containment });
    try {
      await pushApp(server, await trivialArchive(), 'binary');
      done = 0;
      const rounds: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await runsPerSecond(server));
      const ours = median(rounds);
      printRatio(
        `runs through the whole server, ${bare.containment}, vs bare starts`,
        ours,
        bare.bareStartsPerSecond,
        ours / bare.bareStartsPerSecond,
      );
    } finally {
      await server.stop();
    }
  }
}

await benchRequests();
await benchRuns();
