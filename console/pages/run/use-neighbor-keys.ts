import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { client } from '../../client/client.ts';
import { getRunOrder } from '../../ui/keyboard/run-order.ts';
import { isTextTarget } from '../../ui/keyboard/text-target.ts';
import type { RunAddress } from './queries.ts';

/** More runs than one millisecond creates, so that a run is never the last of those with its own time. */
const NEIGHBOR_LIMIT = 20;

/** Moves to the run below by `j` and above by `k`, as in the table of runs. The open tab and its search stay. */
export function useNeighborKeys({ application, run }: RunAddress, createdAt: string): void {
  const navigate = useNavigate({ from: '/apps/$application/runs/$run' });
  useEffect(() => {
    const move = async (step: 1 | -1) => {
      const neighbor = await findNeighbor({ application, run }, createdAt, step);
      if (neighbor === undefined) return;
      await navigate({
        to: '/apps/$application/runs/$run',
        params: { application, run: neighbor },
        search: ({ line: _, baseline: __, ...search }) => search,
        replace: true,
      });
    };
    const handleKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTextTarget(event)) return;
      if (document.querySelector('dialog[open], [role="dialog"]:popover-open')) return;
      // A server that cannot be reached leaves the page where it is.
      if (event.key === 'j') void move(1).catch(() => {});
      if (event.key === 'k') void move(-1).catch(() => {});
    };
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, [application, run, createdAt, navigate]);
}

/** Returns the next run in the last table, or in the order of creation, newest first; undefined at the end. */
async function findNeighbor(
  { application, run }: RunAddress,
  createdAt: string,
  step: 1 | -1,
): Promise<string | undefined> {
  const order = getRunOrder(application, run);
  if (order) return order[order.indexOf(run) + step];
  const { body } = await client.call('listRuns', {
    params: { application_id: application },
    query: {
      limit: NEIGHBOR_LIMIT,
      ...(step === 1 ? { created_before: createdAt } : { created_after: createdAt, sort: 'created_at' }),
    },
  });
  const ids: readonly string[] = body.runs.map(({ id }) => id);
  return ids[ids.indexOf(run) + 1];
}
