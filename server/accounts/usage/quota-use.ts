/** Reads what an account or an application uses of its quotas. */
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { readCoreHours } from './core-hours.ts';
import { formatLimits } from './quotas-store.ts';

/** The account or the application whose runs count, with its limits. */
interface QuotaOwner {
  account: AccountId;
  /** null for the account. */
  application: { id: ApplicationId; uid: string } | null;
  limits: Parameters<typeof formatLimits>[0];
}

/** Returns the limits and their use in the form of the API, and the begin of the next month. */
export async function readQuotaUse(
  { clock, countRunningRuns }: Pick<Context, 'clock' | 'countRunningRuns'>,
  db: Reader,
  { account, application, limits }: QuotaOwner,
) {
  const counted = { account, application: application?.id ?? null };
  const { used, resetsAt } = await readCoreHours(db, counted, clock.now());
  return {
    use: {
      ...formatLimits(limits),
      running_runs: await countRunningRuns(db, account, application?.uid),
      used_core_hours: used,
    },
    resets_at: formatRfc3339(resetsAt),
  };
}

/** Lets runs that a quota held back start or be accepted. Call it after the commit of a change of quotas. */
export function applyQuotas({
  database,
  coreHourLimiter,
}: Pick<Context, 'database' | 'coreHourLimiter'>): void {
  coreHourLimiter.expire();
  database.notify('runs-queued');
}
