import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { queryClient } from '../../client/queries.ts';
import { assetsQuery } from '../../ui/assets/asset-query.ts';
import { contentQuery } from '../../ui/content/content-query.ts';
import { getRunContentSource } from '../../ui/solution/run-content.tsx';
import { firstLinesQuery } from './log/first-lines-query.ts';
import { logQuery } from './log/log-query.ts';
import { hasSmallOutput, type RunAddress } from './queries.ts';
import type { RunSearch } from './search.ts';

/** The answer of a run does not wait longer for what stands below it. */
const PARTS_WAIT_MS = 400;

/**
 * Loads what the top of the page of a run shows. Parts that arrive soon do not move what is below them; a slow server does
 * not delay the answer. A failure is shown by the part that it belongs to. The log of its tab arrives meanwhile.
 */
export async function loadRunPage(
  address: RunAddress,
  search: RunSearch,
  run: RunInformation,
): Promise<void> {
  if (!isTerminal(run.status_v2)) return;
  const { application } = address;
  const isLog = search.tab === 'log';
  if (isLog) void queryClient.prefetchQuery(logQuery(address, run.status_v2));
  const content = getRunContentSource(application, address.run, 'output');
  const parts = Promise.allSettled([
    queryClient.ensureQueryData(assetsQuery(application, address.run)),
    // The server searches the whole log for its first lines, for which the tab with the log does not wait.
    ...(isLog ? [] : [queryClient.ensureQueryData(firstLinesQuery(address))]),
    ...(hasSmallOutput(run) && !isLog ? [queryClient.ensureQueryData(contentQuery(content))] : []),
  ]);
  await Promise.race([parts, new Promise((resolve) => setTimeout(resolve, PARTS_WAIT_MS))]);
}
