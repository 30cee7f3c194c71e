/**
 * Replays the starts and ends of runs, and counts the licence tokens that they held. The number of an event grows with the time
 * of its transition: a claim counts the tokens after it has locked the licences, and inserts its events afterwards.
 */
import type { RunQuery } from './invariants.ts';

/** The licence of the chaos test: fewer tokens than slots. */
export const LOAD_LICENSE = { name: 'solver', total: 2 };

/** A status change of a run that holds tokens while it is running. */
export interface TokenEvent {
  runId: string;
  status: string;
  tokens: number;
}

interface TokenHistory {
  /** The number of starts of runs that need tokens. */
  starts: number;
  /** The most tokens that were in use at once. */
  peak: number;
  violations: string[];
}

/** Replays the events in the order of their numbers. */
export function replayTokens(events: readonly TokenEvent[], total: number): TokenHistory {
  const held = new Map<string, number>();
  const history: TokenHistory = { starts: 0, peak: 0, violations: [] };
  for (const { runId, status, tokens } of events) {
    if (status !== 'running') {
      held.delete(runId);
      continue;
    }
    held.set(runId, tokens);
    const used = [...held.values()].reduce((sum, one) => sum + one, 0);
    history.starts += 1;
    history.peak = Math.max(history.peak, used);
    if (used > total)
      history.violations.push(
        `${runId} started when ${used} of ${total} tokens were in use: ${[...held.keys()].join(', ')}`,
      );
  }
  return history;
}

/** Replays the events of all runs that need tokens of the licence. */
export async function checkTokens(query: RunQuery, license: string, total: number): Promise<TokenHistory> {
  const rows = await query(
    `select run_events.run_id as run_id, run_events.status as status, runs.required_licenses as licenses
     from run_events join runs on runs.id = run_events.run_id
     where runs.required_licenses is not null order by run_events.seq`,
  );
  const events = rows.map((row): TokenEvent => {
    const licenses: Record<string, number> = JSON.parse(String(row.licenses));
    return {
      runId: String(row.run_id),
      status: String(row.status),
      tokens: licenses[license] ?? 0,
    };
  });
  return replayTokens(events, total);
}
