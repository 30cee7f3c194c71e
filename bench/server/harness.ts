/** Shared parts of the benchmarks: a server in its own process, an app on it, and the output of figures. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { sleep } from '../../server/testing/host/sleep.ts';
import {
  type ServerProcess,
  type ServerProcessSettings,
  startServerProcess,
} from '../../server/testing/servers/server-process.ts';

export const BENCH_APPLICATION = 'bench';
/** Clients that create runs at the same time. */
const CLIENTS = 8;

/** The manifest of an app that is one compiled file or script. */
export const BINARY_MANIFEST = 'type: binary\nruntime: native\nfiles: [main]\n';
/** About 2 kB, the input size of the design. */
export const ROUTING_INPUT = {
  stops: Array.from({ length: 32 }, (_, at) => ({
    id: `stop-${at}`,
    lon: 8.5 + at / 97,
    lat: 47.4 + at / 89,
    demand: at % 7,
  })),
};

/** Starts bare Fastify in its own process. */
export async function startBareFastify(): Promise<{ url: string; pid: number; stop(): void }> {
  const bare = spawn(process.execPath, [join(import.meta.dirname, 'bare-fastify.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve) =>
    createInterface({ input: bare.stdout }).once('line', resolve),
  );
  return { url: `http://127.0.0.1:${port}`, pid: bare.pid ?? 0, stop: () => bare.kill() };
}

/** A server process whose `stop` also deletes its temporary folder. */
export type StartedServer = ServerProcess & { stop(): Promise<void> };

/** Starts a server. Without a `folder`, it has a temporary one, which is deleted at its stop. */
export async function startSwitchyard(
  env: Record<string, string>,
  folder?: string,
  settings: Pick<ServerProcessSettings, 'main' | 'onLog'> = {},
): Promise<StartedServer> {
  const data = folder ?? mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
  const server = await startServerProcess({
    dataFolder: data,
    env: { SWITCHYARD_LOG_LEVEL: 'error', ...env },
    onLog: (line) => process.stderr.write(`${line}\n`),
    ...settings,
  });
  const stop = async (): Promise<void> => {
    await server.kill('SIGTERM');
    if (folder === undefined) rmSync(data, { recursive: true, force: true });
  };
  return Object.assign(server, { stop });
}

/** Creates the application and pushes the archive. */
export async function pushApp(
  server: StartedServer,
  archive: Buffer,
  type: 'binary' | 'node',
): Promise<void> {
  const { client } = server;
  const params = { application_id: BENCH_APPLICATION };
  await client.call('createApplication', { body: { id: BENCH_APPLICATION, name: 'Benchmark' } });
  const upload = await client.call('getBinaryUpload', { params });
  await fetch(upload.body.upload_url, { method: 'PUT', body: new Uint8Array(archive) });
  await client.call('activateBinary', {
    params,
    body: { requirements: { executable_type: type, runtime: 'native' } },
  });
}

/** Creates a run of the app. */
export async function createRun({ client }: StartedServer, input: object = {}): Promise<void> {
  await client.call('createRun', {
    params: { application_id: BENCH_APPLICATION },
    query: { instance_id: 'latest' },
    body: { input },
  });
}

/** Creates runs through eight clients at the same time. */
export async function createRuns(server: StartedServer, count: number): Promise<void> {
  let left = count;
  const createSome = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await createRun(server);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, createSome));
}

/** Waits until so many runs have ended since the start of the server. Throws if one has not succeeded. */
export async function waitForEndedRuns(server: StartedServer, count: number, pollMs: number): Promise<void> {
  while ((await countEndedRuns(server)) < count) await sleep(pollMs);
}

/** Returns the number of runs that have ended since the start of the server. Throws if one has not succeeded. */
export async function countEndedRuns(server: StartedServer): Promise<number> {
  return parseEndedRuns((await server.request('GET', '/metrics')).text);
}

/** Returns the number of runs that have ended, from the metrics of a server. Throws if one has not succeeded. */
export function parseEndedRuns(metrics: string): number {
  let succeeded = 0;
  for (const [, status, count] of metrics.matchAll(
    /^switchyard_runs_finished_total\{status="(\w+)"\} (\d+)/gm,
  )) {
    if (status === 'succeeded') succeeded = Number(count);
    else if (count !== '0') throw new Error(`${count} runs of the benchmark ${status}`);
  }
  return succeeded;
}

/** Returns the value below which the share of the values lies; NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Returns the sample interval of autocannon, in ms, for a load of these seconds. A load ends only with a sample. */
export const sampleIntervalMs = (seconds: number): number => Math.min(1000, seconds * 250);

/** Prints a line to stdout. */
export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a line of rates: the server, the baseline, and their ratio. */
export function printRatio(name: string, ours: number, baseline: number, ratio: number): void {
  const rate = (value: number): string => `${value.toFixed(0).padStart(7)}/s`;
  printLine(`${name.padEnd(58)} ${rate(ours)}  baseline ${rate(baseline)}  ratio ${ratio.toFixed(2)}`);
}
