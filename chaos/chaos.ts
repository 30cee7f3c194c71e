/** The chaos test: starts the load, injects faults, stops the load, waits for every run and checks all promises. */
import { isTerminal } from '@switchyard/contract/states.ts';
import { pushApp } from '../server/testing/fixtures/apps.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import type { ObservedRun } from '../server/testing/load/invariants.ts';
import {
  LOAD_APP,
  LOAD_APPLICATION,
  LOAD_ENSEMBLE,
  MEMORY_HOG,
  MEMORY_HOG_APP,
  RunLoad,
} from '../server/testing/load/run-load.ts';
import { ApplicationLoad } from './application-load.ts';
import type { Cluster } from './cluster.ts';
import type { ChaosContext, Loads } from './context.ts';
import { ExperimentLoad, SHADOW_INSTANCE, SWITCHBACK_INSTANCE } from './experiment-load.ts';
import { generateFaults, listAvailableFaults } from './faults.ts';
import { checkPromises } from './promise-checks.ts';
import type { Report } from './report.ts';
import { WebhookLoad } from './webhook-load.ts';

/** Concurrent requests for the outcomes of runs. */
const COLLECTORS = 8;
/** The host may be shared, and interrupted runs wait in the queue again. */
const ALL_ENDED_TIMEOUT_MS = 5 * 60_000;
/** Longer than the hour after which the server deletes unreferenced blobs. */
const CLEAN_UP_OFFSET_MS = 2 * 60 * 60_000;

/** Settings of one chaos test. */
export interface ChaosSettings {
  minutes: number;
  /** Mean interval between two faults. */
  faultIntervalSeconds: number;
  seed: string;
  /** Number of concurrent clients that create runs. */
  clients: number;
  /** Injects only faults whose name contains this text. */
  only: string;
  /** Receives a progress message for each step and fault. */
  onProgress(message: string): void;
  /** Aborts the test. */
  signal: AbortSignal;
}

type TestReport = Omit<Report, 'unavailable' | 'folder'>;

/** Runs the chaos test and returns its report. Throws if the cluster does not start, or the code changes meanwhile. */
export async function runChaosTest(cluster: Cluster, settings: ChaosSettings): Promise<TestReport> {
  const { minutes, seed, onProgress } = settings;
  const { database } = cluster.settings;
  onProgress(`Starting the cluster on ${database} ...`);
  await cluster.start();
  const loads: Loads = {
    runs: new RunLoad(cluster, ['latest', SHADOW_INSTANCE, SWITCHBACK_INSTANCE]),
    experiments: new ExperimentLoad(cluster),
    webhooks: new WebhookLoad(cluster, seed),
    applications: new ApplicationLoad(cluster),
  };
  const context: ChaosContext = {
    cluster,
    killedRuns: new Set(),
    diskFullPeriods: [],
    memoryExhaustions: { count: 0, violations: [] },
    background: new Set(),
  };
  try {
    await prepareLoads(cluster, loads);
    const clients = startLoads(loads, settings.clients);
    const injected = await injectFaults(context, settings);
    onProgress('All faults are injected; waiting for runs and experiments to end ...');
    stopLoads(loads);
    await Promise.all([...context.background, ...clients]);
    await loads.experiments.finish();
    const observedRuns = await collectRuns(cluster, loads.runs);
    await waitUntil(async () => (await loads.experiments.listUnfinished()).length === 0);
    const undelivered = await deliverAll(cluster);
    const unclean = await cluster.shutDown();
    onProgress('Advancing the clock by two hours, so that the server deletes unreferenced data ...');
    await waitForCleanUp(cluster);
    unclean.push(...(await cluster.shutDown()));
    onProgress('Checking ...');
    const { checks, requested, observed } = await checkPromises(context, loads, {
      runs: observedRuns,
      undelivered,
      unclean,
    });
    const isBroken = checks.some(({ violations }) => violations.length > 0);
    return {
      database,
      minutes,
      seed,
      injected,
      requested,
      observed,
      checks,
      outcome: isBroken ? 'broken' : 'held',
    };
  } finally {
    stopLoads(loads);
    await loads.webhooks.close();
  }
}

async function prepareLoads(cluster: Cluster, { webhooks, experiments }: Loads): Promise<void> {
  await webhooks.prepare();
  const front = await cluster.front.whenReady;
  await pushApp(front, LOAD_APPLICATION, LOAD_APP, { executable_type: 'binary', runtime: 'shell' });
  await pushApp(front, MEMORY_HOG, MEMORY_HOG_APP, { executable_type: 'binary', runtime: 'shell' });
  await front.request('POST', `/v1/applications/${LOAD_APPLICATION}/ensembles`, { body: LOAD_ENSEMBLE });
  await experiments.prepare();
}

/** Starts every client; each promise resolves after its load has been stopped. */
function startLoads({ runs, experiments, webhooks, applications }: Loads, clients: number): Promise<void>[] {
  return [
    ...Array.from({ length: clients }, () => runs.createRuns()),
    experiments.runBatches(),
    experiments.runAcceptanceTests(),
    experiments.runShadowTests(),
    experiments.runSwitchbackTests(),
    experiments.runBisects(),
    webhooks.createAndDelete(),
    applications.createAndDelete(),
  ];
}

function stopLoads(loads: Loads): void {
  for (const load of Object.values(loads)) load.stop();
}

/** Injects faults until the time is up and returns how often each was injected. */
async function injectFaults(context: ChaosContext, settings: ChaosSettings): Promise<Record<string, number>> {
  const faults = listAvailableFaults(context.cluster.settings.database, context.cluster.settings).filter(
    ({ name }) => name.includes(settings.only),
  );
  if (faults.length === 0)
    throw new Error(`--only is "${settings.only}": no fault has that text in its name.`);
  const counts = Object.fromEntries(faults.map(({ name }) => [name, 0]));
  const end = performance.now() + settings.minutes * 60_000;
  for (const { fault, draw, wait } of generateFaults(faults, settings.seed)) {
    await sleep(settings.faultIntervalSeconds * 1000 * wait);
    settings.signal.throwIfAborted();
    if (performance.now() >= end) return counts;
    const begun = performance.now();
    const isInjected = await fault.inject(context, draw);
    if (isInjected) counts[fault.name] = (counts[fault.name] ?? 0) + 1;
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    settings.onProgress(
      isInjected ? `Fault injected: ${fault.name} (${seconds} s)` : `Fault not applicable: ${fault.name}`,
    );
  }
  return counts;
}

/** Polls every acknowledged run until all have ended or the time is up. Returns the last state of each, by id. */
async function collectRuns(cluster: Cluster, load: RunLoad): Promise<Map<string, ObservedRun>> {
  const observed = new Map<string, ObservedRun>();
  const deadline = performance.now() + ALL_ENDED_TIMEOUT_MS;
  const remaining = [...load.acknowledgedRuns];
  const collect = async (): Promise<void> => {
    for (let run = remaining.pop(); run; run = remaining.pop()) {
      const path = `/v1/applications/${LOAD_APPLICATION}/runs/${run.id}`;
      for (;;) {
        const response = await cluster.request('GET', path).catch(() => null);
        const found = response?.body as ObservedRun | undefined;
        if (found?.status_v2 !== undefined) observed.set(run.id, found);
        if (found?.status_v2 !== undefined && isTerminal(found.status_v2)) break;
        if (performance.now() > deadline) break;
        await sleep(100);
      }
    }
  };
  await Promise.all(Array.from({ length: COLLECTORS }, collect));
  return observed;
}

/**
 * Advances the clock to each next delivery until none is pending. Returns a violation if some stay pending. Runs whose
 * creation was never acknowledged, and those of an experiment that a race ended, may still end and send events.
 */
async function deliverAll(cluster: Cluster): Promise<string[]> {
  const isDone = await waitUntil(async () => {
    const [row] = await cluster.queryDatabase(
      `select count(*) as pending, min(next_at) as next,
       (select count(*) from run_events where pending = 1) as events,
       (select count(*) from runs where status in ('queued', 'running')) as runs from webhook_deliveries`,
    );
    const ahead = Number(row?.next ?? 0) - Date.now();
    if (Number(row?.pending) > 0 && ahead > cluster.clockAheadMs) cluster.setClocks(ahead);
    return [row?.runs, row?.events, row?.pending].every((count) => Number(count) === 0);
  }, 500);
  return isDone ? [] : ['runs are active or deliveries pending after minutes of attempts'];
}

/** Starts the server with an advanced clock, and waits until it has deleted unreferenced blobs and applications. */
async function waitForCleanUp(cluster: Cluster): Promise<void> {
  cluster.setClocks(cluster.clockAheadMs + CLEAN_UP_OFFSET_MS);
  await cluster.restartFirst();
  await waitUntil(async () => {
    const [row] = await cluster.queryDatabase(
      `select (select count(distinct blob_key) from contents) as referenced,
       (select count(*) from applications where deleted_at is not null) as deleted`,
    );
    return (await cluster.listBlobKeys()).length === Number(row?.referenced) && Number(row?.deleted) === 0;
  }, 500);
}

/** Polls the condition. Returns false if it does not become true in time. */
async function waitUntil(holds: () => Promise<boolean>, intervalMs = 200): Promise<boolean> {
  for (const deadline = performance.now() + ALL_ENDED_TIMEOUT_MS; performance.now() < deadline; ) {
    if (await holds()) return true;
    await sleep(intervalMs);
  }
  return false;
}
