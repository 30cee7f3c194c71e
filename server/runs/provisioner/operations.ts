/** The operation that shows the provisioner. */
import { managesServer } from '../../accounts/account/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { countJobs, groupPendingReasons } from './count-jobs.ts';
import { listJobs, readState } from './store.ts';

export const getProvisioner: OperationHandler<'getProvisioner'> = async (
  { database, provisionerSettings: settings },
  { caller },
) => {
  const jobs = settings ? await listJobs(database.read) : [];
  const state = await readState(database.read);
  const isManager = await managesServer(database.read, caller.role);
  const formatTime = (at: number | null): string | null => (at === null ? null : formatRfc3339(at));
  return {
    status: 200,
    body: {
      adapter: settings?.adapter.kind ?? 'none',
      max_workers: settings?.max ?? 0,
      idle_seconds: (settings?.idleMs ?? 0) / 1000,
      jobs: countJobs(jobs),
      pending_reasons: groupPendingReasons(isManager ? jobs : []).map(({ isBlocked, since, ...group }) => ({
        ...group,
        since: formatRfc3339(since),
        is_blocked: isBlocked,
      })),
      failed_starts: state.failed_starts,
      unservable_runs: settings ? state.unservable_runs : 0,
      last_error: settings && isManager ? state.last_error : null,
      last_error_at: formatTime(settings ? state.last_error_at : null),
      retry_at: formatTime(settings ? state.retry_at : null),
      checked_at: formatTime(settings ? state.listed_at : null),
    },
  };
};
