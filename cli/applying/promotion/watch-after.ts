/** Watches the runs after a promotion. */
import type { CallRequest, Client } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  computeOutageRuns,
  FAILURES_MIN,
  findBurstsNeeded,
  findLongestStreak,
  findWatchAlarm,
  RUNS_BEFORE_MAX,
  type WatchAlarm,
  type WatchedOutcomes,
} from '@switchyard/contract/runs/failure-watch.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { poll } from '../../experiments/wait-for-end.ts';
import { readPages } from '../../session/list-items.ts';
import type { GateDecision, Promotion } from './gates.ts';

interface WatchSettings {
  promotion: Promotion;
  previous: string;
  /** Time of the promotion. */
  since: string;
  /** Runs after which the watch ends. */
  runs: number;
  /** Failures in a row that move the instance back at once; undefined for the default. */
  outageRuns: number | undefined;
  signal: AbortSignal;
  /** Returns the decision of the last gate now: runs that end late can change it. */
  readLastGate: () => Promise<GateDecision>;
  report: (line: string) => void;
}

/** The end of a watch: a reason to move back, the reason for which it cannot go on, or none of both after enough runs. */
interface WatchEnd {
  reason?: string;
  interruption?: string;
}

/** Watches until as many runs have ended, there is a reason to move back, or somebody changes the version of the instance. */
export async function watchAfter(client: Client, settings: WatchSettings): Promise<WatchEnd> {
  const { promotion, runs: planned, signal, report } = settings;
  const before = await readBefore(client, settings);
  const outageRuns = settings.outageRuns ?? computeOutageRuns({ before, planned });
  report(describeWatch({ before, planned }, outageRuns));
  return poll<WatchEnd>(signal, async () => {
    const params = { application_id: promotion.application, instance_id: promotion.instance };
    const { version_id } = (await client.call('getInstance', { params })).body;
    if (version_id !== promotion.version)
      return {
        interruption: `Somebody changed the instance: ${promotion.instance} has version ${version_id} now, and not ${promotion.version}. The watch ends, and the instance was left as it is.`,
      };
    const gate = await settings.readLastGate();
    if (gate.outcome === 'negative') return { reason: `The last gate is negative now: ${gate.reason}` };
    const { outcomes, ended } = await readAfter(client, settings);
    report(
      `${ended} of ${planned} runs after the promotion, ${outcomes.filter((isFailed) => isFailed).length} failed`,
    );
    const watched: WatchedOutcomes = { before, after: outcomes, planned };
    const alarm = findWatchAlarm(watched, outageRuns);
    if (alarm) return { reason: describeAlarm(alarm, watched) };
    return ended >= planned ? {} : undefined;
  });
}

type ListedRun = Pick<Run, 'status_v2' | 'created_at'>;
const isFailed = ({ status_v2 }: ListedRun): boolean => status_v2 === 'failed';
const ENDED = 'succeeded,failed';

/** Returns the outcomes of the newest ended runs of the version before, in the order of their creation. */
async function readBefore(client: Client, { promotion, previous, since }: WatchSettings): Promise<boolean[]> {
  const query = { version_id: previous, status: ENDED, created_before: since };
  const runs = await listProductionRuns(client, promotion, { query, limit: RUNS_BEFORE_MAX });
  return runs.map(isFailed).toReversed();
}

/**
 * Returns the outcomes of the first runs after the promotion, in the order of their creation. Runs that have not ended are
 * among them: without those, runs that fail fast would count before the others that were created with them.
 */
async function readAfter(
  client: Client,
  { promotion, runs: limit, since }: WatchSettings,
): Promise<{ outcomes: boolean[]; ended: number }> {
  const query = { version_id: promotion.version, created_after: since, sort: 'created_at' };
  const ended = await listProductionRuns(client, promotion, { query: { ...query, status: ENDED }, limit });
  const last = ended.length < limit ? undefined : ended.at(-1);
  const open = await listProductionRuns(client, promotion, {
    query: { ...query, status: 'queued,running', ...(last && { created_before: last.created_at }) },
    limit,
  });
  const outcomes = [...ended, ...open]
    .toSorted((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
    .slice(0, limit)
    .map(isFailed);
  return { outcomes, ended: ended.length };
}

type RunQuery = NonNullable<CallRequest<Operations['listRuns']>['query']>;

async function listProductionRuns(
  client: Client,
  { application, instance }: Promotion,
  { query, limit }: { query: RunQuery; limit: number },
): Promise<ListedRun[]> {
  const { items } = await readPages(limit, async (page) => {
    const { body } = await client.call('listRuns', {
      params: { application_id: application },
      query: { ...query, instance_id: instance, production: true, ...page },
    });
    return { ...body, items: body.runs };
  });
  return items;
}

/** Returns the sentences that say before the watch what it compares, and which failures move the instance back. */
function describeWatch({ before, planned }: Omit<WatchedOutcomes, 'after'>, outageRuns: number): string {
  const compared = `The watch compares the next ${formatRuns(planned)} with ${formatRuns(before.length)} before, of which ${countFailed(before)} failed.`;
  const bursts = findBurstsNeeded({ before, planned });
  if (bursts === undefined)
    return `${compared} These are too few to know a failure rate: only ${outageRuns} failures in a row move the instance back.`;
  const needed = Math.max(FAILURES_MIN, bursts);
  return `${compared} The instance moves back after ${outageRuns} failures in a row, or if the failure rate rises, from ${needed} failures on.`;
}

/** Returns the reason to move the instance back as sentences. */
function describeAlarm(alarm: WatchAlarm, { before, after }: WatchedOutcomes): string {
  if (alarm.kind === 'outage')
    return `${alarm.streak} of ${formatRuns(after.length)} failed in a row after the promotion; in ${formatRuns(before.length)} before, at most ${findLongestStreak(before)} did.`;
  const counted = `${countFailed(after)} of ${formatRuns(after.length)} failed after the promotion, and ${countFailed(before)} of ${before.length} before.`;
  const chance = `At equal rates, whatever they are, the test finds so great a rise in at most ${formatPercent(alarm.p_value)} of releases.`;
  return `${counted} ${describePart(alarm)} ${chance}`;
}

function describePart({ part, before, after }: Extract<WatchAlarm, { kind: 'rate' }>): string {
  const counts = `${after.failed} of ${formatRuns(after.runs)} after and ${before.failed} of ${before.runs} before`;
  return part === 'start'
    ? `Failures began, after two successes, in ${counts}.`
    : `Failures went on, in the two runs after a failure, in ${counts}.`;
}

const countFailed = (outcomes: readonly boolean[]): number => outcomes.filter((isFailed) => isFailed).length;

const formatRuns = (count: number): string => `${count} ${count === 1 ? 'run' : 'runs'}`;
