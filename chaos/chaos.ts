/** The chaos test: starts the load, injects one fault after another, stops the load, waits for every run and checks all. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isTerminal } from '@switchyard/contract/states.ts';
import { pushApp } from '../server/testing/fixtures/apps.ts';
import { findProcessesInFolder, listRunningApps } from '../server/testing/host/processes.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import {
  checkAssets,
  checkContents,
  checkRunEvents,
  checkRunOutcomes,
  type ObservedRun,
  openQuery,
} from '../server/testing/load/invariants.ts';
import {
  LOAD_APP,
  LOAD_APPLICATION,
  LOAD_ENSEMBLE,
  MEMORY_HOG,
  MEMORY_HOG_APP,
  RunLoad,
} from '../server/testing/load/run-load.ts';
import { ApplicationLoad, checkOrphanRows } from './application-load.ts';
import type { Cluster } from './cluster.ts';
import type { ChaosContext } from './context.ts';
import { checkExperiments, ExperimentLoad, SHADOW_INSTANCE, SWITCHBACK_INSTANCE } from './experiment-load.ts';
import { availableFaults, faultSequence } from './faults.ts';
import type { CheckReport, Report } from './report.ts';
import { WebhookLoad } from './webhook-load.ts';

const COLLECTORS = 8;
/** The machine may be shared, and runs that were cut short wait for their turn again. */
const ALL_ENDED_WITHIN_MS = 5 * 60_000;
/** Blobs without a row are swept after an hour, what uploads left after a day. */
const LATER_MS = 2 * 60 * 60_000;

export interface ChaosSettings {
  minutes: number;
  /** About how long from one fault to the next. */
  faultIntervalSeconds: number;
  seed: string;
  /** How many make runs at the same time. */
  clients: number;
  /** Injects only faults whose name contains this text. */
  only: string;
  /** Told what goes on. */
  onProgress(sentence: string): void;
  /** Aborted when it is to end early. */
  signal: AbortSignal;
}

type Told = Omit<Report, 'not_done' | 'kept'>;

export async function runChaosTest(stage: Cluster, settings: ChaosSettings): Promise<Told> {
  const { minutes, seed, onProgress: onNews } = settings;
  const { database } = stage.settings;
  onNews(`Starting what is tortured, on ${database} ...`);
  await stage.start();
  const load = new RunLoad(stage, ['latest', SHADOW_INSTANCE, SWITCHBACK_INSTANCE]);
  const experiments = new ExperimentLoad(stage);
  const webhooks = new WebhookLoad(stage, seed);
  const applications = new ApplicationLoad(stage);
  const loads = [load, experiments, webhooks, applications];
  const context: ChaosContext = {
    cluster: stage,
    killedRuns: new Set(),
    diskFullPeriods: [],
    memoryExhaustions: { count: 0, violations: [] },
    background: new Set(),
  };
  try {
    await webhooks.prepare();
    const front = await stage.front.whenReady;
    await pushApp(front, LOAD_APPLICATION, LOAD_APP, { executable_type: 'binary', runtime: 'shell' });
    await pushApp(front, MEMORY_HOG, MEMORY_HOG_APP, { executable_type: 'binary', runtime: 'shell' });
    await front.request('POST', `/v1/applications/${LOAD_APPLICATION}/ensembles`, { body: LOAD_ENSEMBLE });
    await experiments.prepare();

    const clients = [
      ...Array.from({ length: settings.clients }, () => load.createRuns()),
      ...[
        experiments.runBatches(),
        experiments.runAcceptanceTests(),
        experiments.runShadowTests(),
        experiments.runSwitchbackTests(),
      ],
      ...[webhooks.createAndDelete(), applications.createAndDelete()],
    ];
    const done = await injectFaults(context, settings);
    onNews('All faults are injected; waiting for what was started to end ...');
    for (const one of loads) one.stop();
    await Promise.all([...context.background, ...clients]);
    await experiments.finish();
    const seen = await collect(stage, load);
    await until(async () => (await experiments.listUnfinished()).length === 0);
    const undelivered = await deliverAll(stage);
    const leaving = await stage.shutDown();
    onNews('Two hours later by its clock, when everything that nothing names is to be gone ...');
    await comeBackLater(stage);
    leaving.push(...(await stage.shutDown()));

    onNews('Checking ...');
    const { query, close } = await openQuery(stage.front.data, stage.databaseUrl);
    const answers = checkRunOutcomes(load.acknowledgedRuns, seen, {
      killedRuns: context.killedRuns,
      overlapsFullDisk: ({ createdAt: at, endedAt = Number.POSITIVE_INFINITY }) =>
        context.diskFullPeriods.some(({ from, to }) => at < to && from < endedAt),
    });
    const contents = await checkContents(query, await stage.blobKeys());
    const books = await checkExperiments(query, experiments);
    const told = await webhooks.check(query);
    const left = await checkOrphanRows(query, applications.deleted);
    const events = await checkRunEvents(query);
    const assets = await checkAssets(query);
    const ids = new Set((await query('select id from runs')).map((row) => String(row.id)));
    const [retried] = await query('select count(*) as count from runs where fence > 1');
    await close();
    const lost = answers.violations.filter((text) => text.includes('was acknowledged and is'));
    const made = Object.entries(experiments.createdIds);
    const checks: CheckReport[] = [
      {
        promise: 'no run that was acknowledged is lost, and each has ended',
        looked: `${load.acknowledgedRuns.length} runs`,
        violations: lost,
      },
      {
        promise:
          'each ended as its input says: its own output, its own failure, or a cancel that was asked for',
        looked: `${load.acknowledgedRuns.length} runs`,
        violations: answers.violations.filter((text) => !lost.includes(text)),
      },
      {
        promise: 'none finished twice, and no status went backwards',
        looked: `the events of ${ids.size} runs`,
        violations: events,
      },
      {
        promise: 'every event was delivered at least once to every webhook that stood, with its sequence',
        looked: `${told.events} events, ${webhooks.deliveries} deliveries`,
        violations: [...undelivered, ...told.violations],
      },
      {
        promise: 'the books of the experiments are right, to the run',
        looked: `${made.reduce((sum, [, all]) => sum + all.length, 0)} experiments`,
        violations: books.violations,
      },
      {
        promise: 'what was deleted left nothing behind',
        looked: `${webhooks.deleted.length} webhooks, ${applications.deleted.length} applications`,
        violations: left,
      },
      {
        promise: 'every blob and every content is named, and what is named is there',
        looked: `${contents.blobs} blobs`,
        violations: [
          ...contents.violations,
          ...contents.unnamed.map((key) => `nothing names the blob ${key}`),
          ...assets,
        ],
      },
      {
        promise: 'an app that takes all memory is ended, and the server is not',
        looked: `${context.memoryExhaustions.count} such apps`,
        violations: context.memoryExhaustions.violations,
      },
      {
        promise: 'no start on an empty or another database was accepted or changed anything',
        looked: `${stage.wrongStarts.count} starts`,
        violations: stage.wrongStarts.violations,
      },
      {
        promise: 'no process, no folder of a run and no lease was left',
        looked: 'this machine',
        violations: [...leaving, ...leftRunning(stage, ids)],
      },
      {
        promise: 'no request was refused or left without an answer but for a reason it was given',
        looked: `${stage.excusedResponses} answers of 503 while disk or database were away`,
        violations: [...stage.rejections, ...loads.flatMap(({ rejections: refused }) => refused)],
      },
    ];
    return {
      database,
      minutes,
      seed,
      done,
      asked: {
        'runs, each answered with 202': load.acknowledgedRuns.length,
        'cancels of runs': load.cancels,
        ...Object.fromEntries(made.map(([kind, all]) => [`${kind} experiments`, all.length])),
        'webhooks made': webhooks.createdCount,
        'webhooks deleted': webhooks.deleted.length,
        'applications made and deleted, with executables and runs': applications.deleted.length,
        'requests whose connection broke': load.unanswered,
      },
      seen: {
        ...answers.counts,
        'runs made by experiments, ensembles, and requests whose answer got lost':
          ids.size - load.acknowledgedRuns.length,
        'runs taken up again after they were cut short': Number(retried?.count),
        ...books.counts,
        'deliveries that the receiver refused or held up, and got again': webhooks.injectedFailures,
        'median of a restart in ms': median(stage.members.flatMap(({ restartMs }) => restartMs)),
      },
      checks,
      verdict: checks.every(({ violations }) => violations.length === 0) ? 'held' : 'broken',
    };
  } finally {
    for (const one of loads) one.stop();
    await webhooks.close();
  }
}

/** Injects faults until the time is up and returns how often each was injected. */
async function injectFaults(context: ChaosContext, settings: ChaosSettings): Promise<Record<string, number>> {
  const faults = availableFaults(context.cluster.settings.database, context.cluster.settings).filter(
    ({ name }) => name.includes(settings.only),
  );
  if (faults.length === 0) throw new Error(`No fault has "${settings.only}" in its name.`);
  const done = Object.fromEntries(faults.map(({ name }) => [name, 0]));
  const end = performance.now() + settings.minutes * 60_000;
  for (const { fault, draw, wait } of faultSequence(faults, settings.seed)) {
    await sleep(settings.faultIntervalSeconds * 1000 * wait);
    settings.signal.throwIfAborted();
    if (performance.now() >= end) return done;
    const begun = performance.now();
    const injected = await fault.inject(context, draw);
    if (injected) done[fault.name] = (done[fault.name] ?? 0) + 1;
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    settings.onProgress(
      injected ? `${fault.name} (${seconds} s)` : `nothing to inject it into: ${fault.name}`,
    );
  }
  return done;
}

/** Asks for every acknowledged run until all have ended, or it has taken too long. */
async function collect(stage: Cluster, load: RunLoad): Promise<Map<string, ObservedRun>> {
  const seen = new Map<string, ObservedRun>();
  const deadline = performance.now() + ALL_ENDED_WITHIN_MS;
  const left = [...load.acknowledgedRuns];
  const collector = async (): Promise<void> => {
    for (let run = left.pop(); run; run = left.pop()) {
      const path = `/v1/applications/${LOAD_APPLICATION}/runs/${run.id}`;
      for (;;) {
        const answer = await stage.request('GET', path).catch(() => null);
        const found = answer?.body as ObservedRun | undefined;
        if (found?.status_v2 !== undefined) seen.set(run.id, found);
        if (found?.status_v2 !== undefined && isTerminal(found.status_v2)) break;
        if (performance.now() > deadline) break;
        await sleep(100);
      }
    }
  };
  await Promise.all(Array.from({ length: COLLECTORS }, collector));
  return seen;
}

/** Goes forward in time to what is due next, until nothing is. Answers what stays undelivered. */
async function deliverAll(stage: Cluster): Promise<string[]> {
  const isDone = await until(async () => {
    const [row] = await stage.queryDatabase(
      `select count(*) as waiting, min(next_at) as next,
       (select count(*) from run_events where pending = 1) as untold from webhook_deliveries`,
    );
    const ahead = Number(row?.next ?? 0) - Date.now();
    if (Number(row?.waiting) > 0 && ahead > stage.clockAheadMs) stage.setClocks(ahead);
    return Number(row?.waiting) === 0 && Number(row?.untold) === 0;
  }, 500);
  return isDone ? [] : ['deliveries wait though everything was tried for minutes'];
}

async function comeBackLater(stage: Cluster): Promise<void> {
  stage.setClocks(stage.clockAheadMs + LATER_MS);
  await stage.restartFirst();
  await until(async () => {
    const [row] = await stage.queryDatabase(
      `select (select count(distinct blob_key) from contents) as named,
       (select count(*) from applications where deleted_at is not null) as gone`,
    );
    return (await stage.blobKeys()).length === Number(row?.named) && Number(row?.gone) === 0;
  }, 500);
}

/** false when it never came about. */
async function until(holds: () => Promise<boolean>, everyMs = 200): Promise<boolean> {
  for (const deadline = performance.now() + ALL_ENDED_WITHIN_MS; performance.now() < deadline; ) {
    if (await holds()) return true;
    await sleep(everyMs);
  }
  return false;
}

function leftRunning(stage: Cluster, runs: ReadonlySet<string>): string[] {
  const apps = [...listRunningApps()].filter(([, run]) => runs.has(run));
  const ours = stage.members.flatMap(({ data }) => findProcessesInFolder(data));
  const folders = stage.members.flatMap(({ data }) => {
    const folder = join(data, 'runner', 'runs');
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  });
  return [
    ...apps.map(([pid, run]) => `the app of ${run} lives, as process ${pid}`),
    ...ours.map((pid) => `process ${pid} lives, which belongs to a server that is gone`),
    ...folders.map((path) => `the folder ${path} is of a run that is over`),
  ];
}

function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}
