/**
 * Hundreds of simulated workers at one server: how long a run waits for a free worker, and what the waiting requests cost.
 *
 * A simulated worker speaks the protocol and executes nothing: it reports the end of a run at once. The clients are in this
 * process, so the server has at most the rest of the machine.
 */
import type { WorkerInstructions, WorkerRegistration } from '@switchyard/contract/workers/worker-protocol.ts';
import { HttpClient } from '@switchyard/worker/remote/http-client.ts';
import { createDatabase, startPostgres } from '../../server/testing/database/postgres-server.ts';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { buildEnd } from '../../server/testing/fixtures/fake-worker.ts';
import { readCpuMs } from '../../server/testing/host/processes.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import { createWorkerToken } from '../../server/testing/servers/worker-process.ts';
import {
  BINARY_MANIFEST,
  countEndedRuns,
  createRun,
  printLine,
  pushApp,
  quantile,
  type StartedServer,
  startSwitchyard,
  waitForEndedRuns,
} from '../server/harness.ts';

const SLOTS = 10;
const POLL_MS = 20;
const CLASSES = ['6c9500mb870s', '8c16gb12h', '16c60gb12h'] as const;

interface Simulation {
  workers: number;
  seconds: number;
  /** Runs created in a second. */
  rate: number;
}

/** Prints the latency of claims and the processor time of the server, idle and under load. */
export async function simulateWorkers({ workers, seconds, rate }: Simulation): Promise<void> {
  const postgres = await startPostgres({ isDurable: true });
  const database = await createDatabase(postgres.url, 'workers');
  const server = await startSwitchyard({
    SWITCHYARD_DATABASE: database,
    SWITCHYARD_CAPACITY: '0',
    SWITCHYARD_RATE_LIMIT: '0',
  });
  const all: SimulatedWorker[] = [];
  try {
    await pushApp(server, await packFiles({ 'app.yaml': BINARY_MANIFEST, main: '#!/bin/sh\n' }), 'binary');
    const { token } = await createWorkerToken(server);
    for (let index = 0; index < workers; index += 1)
      all.push(await SimulatedWorker.start(new HttpClient(server.url, token), index));
    const idle = await measure(server, seconds, all, async () => sleep(seconds * 1000));
    // The first runs compile code and prepare statements.
    await executeRuns(server, Math.min(2, seconds), rate);
    const busy = await measure(server, seconds, all, () => executeRuns(server, seconds, rate));
    printLine(`${workers} simulated workers with ${SLOTS} slots on PostgreSQL:`);
    printLine(`  idle: ${idle.syncs.toFixed(0)} requests/s, ${idle.cores.toFixed(2)} cores of the server`);
    printLine(
      `  ${busy.ended.toFixed(0)} runs/s: claimed after ${busy.median.toFixed(0)} ms (median), ${busy.p99.toFixed(0)} ms (99th percentile), ${busy.cores.toFixed(2)} cores of the server`,
    );
  } finally {
    for (const one of all) one.stop();
    await server.stop();
    await postgres.stop();
  }
}

interface Measurement {
  syncs: number;
  cores: number;
  ended: number;
  median: number;
  p99: number;
}

async function measure(
  server: StartedServer,
  seconds: number,
  workers: readonly SimulatedWorker[],
  load: () => Promise<void>,
): Promise<Measurement> {
  for (const one of workers) one.reset();
  const [cpu, ended] = [readCpuMs(server.pid), await countEndedRuns(server)];
  const start = performance.now();
  await load();
  const elapsed = (performance.now() - start) / 1000;
  const latencies = workers.flatMap((one) => one.latencies);
  return {
    syncs: workers.reduce((sum, one) => sum + one.syncs, 0) / elapsed,
    cores: (readCpuMs(server.pid) - cpu) / 1000 / elapsed,
    ended: ((await countEndedRuns(server)) - ended) / Math.max(elapsed, seconds),
    median: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
}

/** Creates runs at the rate for the time, and returns when they have ended. */
async function executeRuns(server: StartedServer, seconds: number, rate: number): Promise<void> {
  const before = await countEndedRuns(server);
  const total = Math.ceil(seconds * rate);
  const start = performance.now();
  const requests: Promise<void>[] = [];
  for (let index = 0; index < total; index += 1) {
    const dueMs = (index / rate) * 1000 - (performance.now() - start);
    if (dueMs > 0) await sleep(dueMs);
    // The input has the time at which the client sent the run.
    requests.push(createRun(server, { at: Date.now() }));
  }
  await Promise.all(requests);
  await waitForEndedRuns(server, before + total, POLL_MS);
}

/** One worker of the protocol that executes nothing. */
class SimulatedWorker {
  syncs = 0;
  latencies: number[] = [];
  readonly #http: HttpClient;
  readonly #id: string;
  #isStopped = false;
  #free = SLOTS;
  readonly #attempts = new Map<string, { run_id: string; fence: number; state: 'ending' }>();

  private constructor(http: HttpClient, id: string) {
    this.#http = http;
    this.#id = id;
  }

  static async start(http: HttpClient, index: number): Promise<SimulatedWorker> {
    const registration: WorkerRegistration = {
      ...{ version: '1.7.0', host: `node-${index}`, folder_id: `folder-${index}`, containment: 'limits' },
      ...{ slots: { shared: SLOTS, per_class: {} }, resources: null, scratch_bytes: null, labels: [] },
      job_id: null,
    };
    const { worker_id: id }: { worker_id: string } = Object(
      await http.call('POST', '/v1/workers', registration),
    );
    const worker = new SimulatedWorker(http, id);
    void worker.#loop();
    return worker;
  }

  reset(): void {
    this.syncs = 0;
    this.latencies = [];
  }

  stop(): void {
    this.#isStopped = true;
    this.#http.close();
  }

  async #loop(): Promise<void> {
    while (!this.#isStopped) {
      const request = {
        attempts: [...this.#attempts.values()],
        free: this.#free > 0 ? [{ execution_classes: CLASSES, slots: this.#free }] : [],
        workflow_capacity: [16, 16, 16],
        ...{ draining: false, stopping: false, wait_ms: 5000 },
      };
      const response = await this.#http
        .call('POST', `/v1/workers/${this.#id}/sync`, request)
        .catch(() => sleep(200));
      this.syncs += 1;
      const instructions: Partial<WorkerInstructions> = Object(response);
      for (const job of instructions.jobs ?? []) void this.#finish(job);
    }
  }

  async #finish(job: WorkerInstructions['jobs'][number]): Promise<void> {
    const { run_id, fence, input } = job;
    const { at }: { at: number } = JSON.parse(Buffer.from(input.source.content ?? '', 'base64').toString());
    this.latencies.push(Date.now() - at);
    this.#free -= 1;
    this.#attempts.set(run_id, { run_id, fence, state: 'ending' });
    await this.#http
      .call('POST', `/v1/workers/${this.#id}/runs/${run_id}/${fence}/end`, buildEnd({}))
      .catch(() => undefined);
    this.#attempts.delete(run_id);
    this.#free += 1;
  }
}
