import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { useNow } from '../../../ui/relative-time.tsx';
import { runQuery } from '../queries.ts';

const TICK_MS = 1_000;

/**
 * Returns the milliseconds that the app of the present attempt has run, by the clock of the server: that of this browser
 * may be wrong. It stands still after the end; null before the start.
 */
export function useElapsed(run: RunInformation): number | null {
  const now = useNow(TICK_MS);
  const { dataUpdatedAt } = useQuery(runQuery({ application: run.application_id, run: run.id }));
  const { initiated_at, created_at } = run.metadata;
  if (isTerminal(run.status_v2)) return run.execution_duration;
  if (initiated_at === undefined || run.status_v2 !== 'running') return null;
  const atServer = Date.parse(created_at) + run.duration + Math.max(0, now - dataUpdatedAt);
  return Math.max(0, atServer - Date.parse(initiated_at));
}
