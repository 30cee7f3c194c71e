/** Watches the runs after a promotion. */
import type { Client } from '@switchyard/contract/client.ts';
import { poll } from '../../experiments/wait-for-end.ts';
import { readPages } from '../../session/list-items.ts';
import type { EndedRuns } from './failure-rate.ts';
import { computeExpectedRate, computeFailureRatio, RATIO_LIMIT } from './failure-rate.ts';
import type { GateDecision, Promotion } from './gates.ts';

/** Runs of the version before that give the expected failure rate. */
const RUNS_BEFORE = 200;

interface WatchSettings {
  promotion: Promotion;
  previous: string;
  /** Time of the promotion. */
  since: string;
  /** Runs after which the watch ends. */
  runs: number;
  signal: AbortSignal;
  /** Returns the decision of the last gate now: runs that end late can change it. */
  readLastGate: () => Promise<GateDecision>;
  report: (after: EndedRuns) => void;
}

/** Returns the reason to move back; undefined when as many runs have ended without one. */
export async function watchAfter(client: Client, settings: WatchSettings): Promise<string | undefined> {
  const { promotion, previous, since, runs, signal, report } = settings;
  const before = await countEnded(client, promotion, { version: previous, limit: RUNS_BEFORE });
  const found = await poll(signal, async () => {
    const gate = await settings.readLastGate();
    if (gate.outcome === 'negative') return { reason: `The last gate is negative now: ${gate.reason}` };
    const after = await countEnded(client, promotion, { version: promotion.version, limit: runs, since });
    report(after);
    if (computeFailureRatio(before, after) >= RATIO_LIMIT)
      return {
        reason: `${after.failed} of ${after.runs} runs failed after the promotion, where ${(100 * computeExpectedRate(before)).toFixed(1)} % are expected.`,
      };
    return after.runs >= runs ? { reason: undefined } : undefined;
  });
  return found.reason;
}

interface CountSettings {
  version: string;
  limit: number;
  since?: string;
}

/** Counts the ended runs of the instance with the version: the first ones after the time, or else the newest. */
async function countEnded(
  client: Client,
  { application, instance }: Promotion,
  { version, limit, since }: CountSettings,
): Promise<EndedRuns> {
  const { items } = await readPages(limit, async (page) => {
    const { body } = await client.call('listRuns', {
      params: { application_id: application },
      query: {
        ...{ instance_id: instance, version_id: version, status: 'succeeded,failed' },
        ...(since !== undefined && { created_after: since, sort: 'created_at' }),
        ...page,
      },
    });
    return { ...body, items: body.runs };
  });
  return { runs: items.length, failed: items.filter(({ status_v2 }) => status_v2 === 'failed').length };
}
