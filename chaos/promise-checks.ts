/** Checks every promise against the stopped cluster, and counts requests and observations for the report. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProcessesInFolder, listRunningApps } from '../server/testing/host/processes.ts';
import {
  checkAssets,
  checkContents,
  checkRunEvents,
  checkRunOutcomes,
  type ObservedRun,
  openQuery,
} from '../server/testing/load/invariants.ts';
import { checkTokens, LOAD_LICENSE } from '../server/testing/load/license-history.ts';
import { checkOrphanRows } from '../server/testing/load/orphan-rows.ts';
import type { Cluster } from './cluster.ts';
import type { ChaosContext, Loads } from './context.ts';
import { checkExperiments } from './experiment-load.ts';
import type { CheckReport, Report } from './report.ts';

/** Observations while the cluster was running. */
interface Observations {
  /** Last state of each acknowledged run, by id. */
  runs: Map<string, ObservedRun>;
  /** Violations: pending deliveries. */
  undelivered: readonly string[];
  /** Violations: processes that did not end cleanly. */
  unclean: readonly string[];
}

/** The results of all checks that read the database. */
type Results = Awaited<ReturnType<typeof readResults>>;

/** Returns one check for each promise, and the counts of the report. The cluster must be stopped. */
export async function checkPromises(
  context: ChaosContext,
  loads: Loads,
  observations: Observations,
): Promise<Pick<Report, 'checks' | 'requested' | 'observed'>> {
  const results = await readResults(context, loads, observations.runs);
  return {
    checks: [
      ...listRunChecks(loads, results),
      ...listDataChecks(loads, results, observations),
      ...listServerChecks(context, loads, [
        ...observations.unclean,
        ...findRemains(context.cluster, results.ids),
      ]),
    ],
    requested: countRequests(loads),
    observed: countObservations(context.cluster, loads, results),
  };
}

async function readResults(context: ChaosContext, loads: Loads, runs: Map<string, ObservedRun>) {
  const { cluster, killedRuns, diskFullPeriods } = context;
  const { query, close } = await openQuery(cluster.front.data, cluster.databaseUrl);
  const outcomes = checkRunOutcomes(loads.runs.acknowledgedRuns, runs, {
    killedRuns,
    overlapsFullDisk: ({ createdAt, endedAt = Number.POSITIVE_INFINITY }) =>
      diskFullPeriods.some(({ from, to }) => createdAt < to && from < endedAt),
  });
  const contents = await checkContents(query, await cluster.listBlobKeys());
  const experiments = await checkExperiments(query, loads.experiments);
  const deliveries = await loads.webhooks.check(query);
  const orphans = await checkOrphanRows(query, loads.applications.deleted);
  const events = await checkRunEvents(query);
  const tokens = await checkTokens(query, LOAD_LICENSE.name, LOAD_LICENSE.total);
  const assets = await checkAssets(query);
  const ids = new Set((await query('select id from runs')).map((row) => String(row.id)));
  const [retried] = await query('select count(*) as count from runs where fence > 1');
  await close();
  return {
    outcomes,
    contents,
    experiments,
    deliveries,
    orphans,
    events,
    tokens,
    assets,
    ids,
    retriedCount: Number(retried?.count),
  };
}

function listRunChecks({ runs }: Loads, { outcomes, events, tokens, ids }: Results): CheckReport[] {
  const checked = `${runs.acknowledgedRuns.length} runs`;
  const lost = outcomes.violations.filter((text) => text.includes('was acknowledged and is'));
  return [
    { promise: 'every acknowledged run exists and has ended', checked, violations: lost },
    {
      promise: 'every run has the outcome of its input: its output, its failure, or the requested cancel',
      checked,
      violations: outcomes.violations.filter((text) => !lost.includes(text)),
    },
    {
      promise: 'no run ended twice, and no status went backwards',
      checked: `the events of ${ids.size} runs`,
      violations: events,
    },
    {
      promise: 'running runs never held more licence tokens than the account has',
      checked: `${tokens.starts} starts, at most ${tokens.peak} of ${LOAD_LICENSE.total} tokens at once`,
      violations: tokens.violations,
    },
  ];
}

function listDataChecks(
  { webhooks, applications, experiments: load }: Loads,
  { deliveries, experiments, orphans, contents, assets }: Results,
  { undelivered }: Observations,
): CheckReport[] {
  const experimentCount = Object.values(load.createdIds).reduce((sum, ids) => sum + ids.length, 0);
  return [
    {
      promise: 'every event was delivered at least once to every permanent webhook, with its sequence',
      checked: `${deliveries.events} events, ${webhooks.deliveries} deliveries`,
      violations: [...undelivered, ...deliveries.violations],
    },
    {
      promise: 'the rows of the experiments agree with their runs',
      checked: `${experimentCount} experiments`,
      violations: experiments.violations,
    },
    {
      promise: 'deleted resources left no rows',
      checked: `${webhooks.deleted.length} webhooks, ${applications.deleted.length} applications`,
      violations: orphans,
    },
    {
      promise: 'every blob and every content is referenced, and every reference has its blob',
      checked: `${contents.blobs} blobs`,
      violations: [
        ...contents.violations,
        ...contents.unreferenced.map((key) => `the blob ${key} is unreferenced`),
        ...assets,
      ],
    },
  ];
}

function listServerChecks(
  { cluster, memoryExhaustions }: ChaosContext,
  loads: Loads,
  remains: readonly string[],
): CheckReport[] {
  return [
    {
      promise: 'an app that exhausts the memory is ended, and the server survives',
      checked: `${memoryExhaustions.count} such apps`,
      violations: memoryExhaustions.violations,
    },
    {
      promise: 'the server refused every start on an empty or another database, without any change',
      checked: `${cluster.wrongStarts.count} starts`,
      violations: cluster.wrongStarts.violations,
    },
    {
      promise: 'no process, run folder or lease remains',
      checked: 'this machine',
      violations: remains,
    },
    {
      promise: 'no request failed, except with 503 during a fault of disk or database',
      checked: `${cluster.permittedFailures} such responses`,
      violations: [
        ...cluster.rejections,
        ...Object.values(loads).flatMap(({ rejections }) => [...rejections]),
      ],
    },
  ];
}

/** Returns processes and run folders that outlived the cluster. */
function findRemains(cluster: Cluster, runs: ReadonlySet<string>): string[] {
  const apps = [...listRunningApps()].filter(([, run]) => runs.has(run));
  const servers = cluster.members.flatMap(({ data }) => findProcessesInFolder(data));
  const folders = cluster.members.flatMap(({ data }) => {
    const folder = join(data, 'runner', 'runs');
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  });
  return [
    ...apps.map(([pid, run]) => `the app of ${run} is running as process ${pid}`),
    ...servers.map((pid) => `process ${pid} of a stopped server is running`),
    ...folders.map((path) => `the folder ${path} belongs to an ended run`),
  ];
}

function countRequests({ runs, experiments, webhooks, applications }: Loads): Report['requested'] {
  return {
    'runs, each acknowledged with 202': runs.acknowledgedRuns.length,
    'cancels of runs': runs.cancels,
    ...Object.fromEntries(
      Object.entries(experiments.createdIds).map(([kind, ids]) => [`${kind} experiments`, ids.length]),
    ),
    'webhooks created': webhooks.createdCount,
    'webhooks deleted': webhooks.deleted.length,
    'applications created and deleted, with executables and runs': applications.deleted.length,
    'requests with a broken connection': runs.unanswered,
  };
}

function countObservations(
  cluster: Cluster,
  { runs, webhooks }: Loads,
  { outcomes, experiments, ids, retriedCount }: Results,
): Report['observed'] {
  return {
    ...outcomes.counts,
    'runs of experiments, ensembles, and requests with a lost response':
      ids.size - runs.acknowledgedRuns.length,
    'runs with more than one attempt': retriedCount,
    ...experiments.counts,
    'deliveries that the receiver failed once': webhooks.injectedFailures,
    'median of a restart in ms': median(cluster.members.flatMap(({ restartMs }) => restartMs)),
  };
}

function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}
