/**
 * `npm run bench -- steps`: the processor time of each step of creating a run and of reading its metadata, in
 * microseconds a request, beside bare Fastify with the same response bytes. It measures the server twice under the same
 * load: without a profile for the processor time of a request, and with one for its division into steps. Processor time
 * depends little on other load of the machine; a ratio of requests per second depends on it much.
 *
 * Flags: `--seconds` of each part, `--connections`, `--database postgres`. `--keep <file prefix>` stores the profiles.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { startPostgres } from '../../server/testing/database/postgres-server.ts';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { readCpuMs } from '../../server/testing/host/processes.ts';
import {
  BENCH_APPLICATION,
  BINARY_MANIFEST,
  printLine,
  pushApp,
  ROUTING_INPUT,
  type StartedServer,
  sampleIntervalMs,
  startBareFastify,
  startSwitchyard,
} from './harness.ts';
import type { Measurement, MeasurementMessage } from './profiled-server.ts';
import { OTHER_STEPS, type Profile, STEPS, sumSteps } from './step-rules.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '100' },
    database: { type: 'string', default: 'sqlite' },
    keep: { type: 'string' },
  },
});
const SECONDS = Number(values.seconds);
const CONNECTIONS = Number(values.connections);
/** The signals of the profiler interrupt SQLite's waits for a checkpoint, so that a few transactions fail. */
const FAILED_SHARE_MAX = 0.01;
const RUNS = `/v1/applications/${BENCH_APPLICATION}/runs`;

interface Load {
  method: 'GET' | 'POST';
  url: string;
  token?: string;
  body?: string;
}

/** Repeats the request over all connections; returns the number of 2xx responses, and their rate in a second. */
async function sendLoad({ method, url, token, body }: Load): Promise<{ count: number; perSecond: number }> {
  const result = await autocannon({
    url,
    method,
    connections: CONNECTIONS,
    duration: SECONDS,
    sampleInt: sampleIntervalMs(SECONDS),
    timeout: 30,
    headers: {
      'content-type': 'application/json',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    ...(body ? { body } : {}),
  });
  const failed = result.non2xx + result.errors;
  if (failed > result['2xx'] * FAILED_SHARE_MAX)
    throw new Error(`${failed} of the requests to ${method} ${url} failed`);
  return { count: result['2xx'], perSecond: result['2xx'] / result.duration };
}

interface Measured {
  perSecond: number;
  processMicros: number;
  mainThreadMicros: number;
  /** Microseconds of the main thread for one request, by step. */
  steps: Map<string, number>;
}

const server = await startMeasured();
const bare = await startBareFastify();
try {
  await pushApp(server, await packFiles({ 'app.yaml': BINARY_MANIFEST, main: '#!/bin/sh\n' }), 'binary');
  const body = JSON.stringify({ input: ROUTING_INPUT, options: { duration: '2' } });
  const { body: made } = await server.request('POST', RUNS, { body });
  const metadata = `${RUNS}/${(made as { run_id: string }).run_id}/metadata`;
  const { text } = await server.request('GET', metadata);
  const headers = { 'content-type': 'application/json' };
  await fetch(`${bare.url}/metadata`, { method: 'PUT', headers, body: text });
  const create = { method: 'POST', path: RUNS, body } as const;
  const read = { method: 'GET', path: metadata } as const;
  const columns = {
    'create a run': { own: await measure(create), bare: await measureBare(create) },
    'read metadata': { own: await measure(read), bare: await measureBare(read) },
  };
  printTable(columns);
} finally {
  bare.stop();
  await server.stop();
}

async function startMeasured(): Promise<StartedServer & { nextMeasurement(): Promise<Measurement> }> {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-steps-'));
  const postgres = values.database === 'postgres' ? await startPostgres() : null;
  let resolveNext: (measurement: Measurement) => void = () => {};
  const started = await startSwitchyard(
    {
      SWITCHYARD_CAPACITY: '0,16c60gb12h=1',
      ...(postgres ? { SWITCHYARD_DATABASE: postgres.url } : {}),
    },
    data,
    {
      main: { path: join(import.meta.dirname, 'profiled-server.ts'), args: [] },
      onLog(line) {
        if (line.startsWith('{"measured"')) resolveNext(JSON.parse(line) as Measurement);
        else process.stderr.write(`${line}\n`);
      },
    },
  );
  const nextMeasurement = (): Promise<Measurement> =>
    new Promise((resolve) => {
      resolveNext = resolve;
    });
  const stopServer = started.stop;
  const stop = async (): Promise<void> => {
    await stopServer();
    await postgres?.stop();
    rmSync(data, { recursive: true, force: true });
  };
  return Object.assign(started, { nextMeasurement, stop });
}

interface MeasuredRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

async function measure({ path, ...request }: MeasuredRequest): Promise<Measured> {
  const load = { ...request, url: `${server.url}${path}`, token: server.token };
  await sendLoad(load);
  const plain = await measureOnce(load, false);
  const profiled = await measureOnce(load, true);
  const shares = sumSteps(readProfile(profiled.measurement.profilePath ?? '', request.method));
  const mainThreadMicros = plain.measurement.mainThreadMicros / plain.count;
  return {
    perSecond: plain.perSecond,
    processMicros: plain.measurement.processMicros / plain.count,
    mainThreadMicros,
    steps: new Map([...shares].map(([step, share]) => [step, share * mainThreadMicros])),
  };
}

function readProfile(path: string, name: string): Profile {
  if (values.keep) copyFileSync(path, `${values.keep}-${name}.cpuprofile`);
  return JSON.parse(readFileSync(path, 'utf8')) as Profile;
}

async function measureOnce(load: Load, profile: boolean) {
  const report = (measure: MeasurementMessage['measure']): void => server.send({ measure, profile });
  report('start');
  const sent = await sendLoad(load);
  const measurement = server.nextMeasurement();
  report('stop');
  return { ...sent, measurement: await measurement };
}

async function measureBare({ path, ...request }: MeasuredRequest): Promise<Measured> {
  const load = { ...request, url: `${bare.url}${path}` };
  await sendLoad(load);
  const before = readCpuMs(bare.pid);
  const { count, perSecond } = await sendLoad(load);
  const processMicros = ((readCpuMs(bare.pid) - before) * 1000) / count;
  return { perSecond, processMicros, mainThreadMicros: processMicros, steps: new Map() };
}

function printTable(columns: Record<string, { own: Measured; bare: Measured }>): void {
  const line = (name: string, cells: readonly string[]): void =>
    printLine(name.padEnd(46) + cells.map((cell) => cell.padStart(16)).join(''));
  const all = Object.values(columns);
  const row = (name: string, value: (one: { own: Measured; bare: Measured }) => number, digits = 1): void =>
    line(
      name,
      all.map((one) => value(one).toFixed(digits)),
    );
  line('µs of processor time a request', Object.keys(columns));
  for (const step of [...STEPS.map(({ name }) => name), ...OTHER_STEPS])
    row(step, ({ own }) => own.steps.get(step) ?? 0);
  row('main thread', ({ own }) => own.mainThreadMicros);
  row('whole process', ({ own }) => own.processMicros);
  row('bare Fastify, whole process', (one) => one.bare.processMicros);
  row('ratio of bare Fastify to it', ({ own, bare }) => bare.processMicros / own.processMicros, 2);
  row('requests/s', ({ own }) => own.perSecond, 0);
  row('ratio of requests/s to those of bare Fastify', ({ own, bare }) => own.perSecond / bare.perSecond, 2);
}
