/** Operations on usage and its cost. */
import type { CostRate, UsageGroup, UsageRow } from '@switchyard/contract/account/usage.ts';
import { USAGE_GROUPS } from '@switchyard/contract/account/usage.ts';
import { USAGE_DAYS_DEFAULT, USAGE_DAYS_MAX, USAGE_ROWS_MAX } from '@switchyard/contract/limits.ts';
import type { ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import {
  computeUpdateTime,
  requireSettingUnchanged,
} from '../../platform/http/requests/conditional-writes.ts';
import { lockCallerAccount } from '../account/access-changes.ts';
import { updateAccount } from '../account/store.ts';
import { DAY_MS } from './count-usage.ts';
import * as store from './store.ts';

const HOUR_MS = 60 * 60 * 1000;

export const getUsage: OperationHandler<'getUsage'> = async ({ database, clock }, { caller, query }) => {
  const { firstDay, lastDay } = parseRange(query, clock.now());
  const filter = {
    account: caller.account,
    application: query.application_id ?? null,
    firstDay,
    lastDay,
  };
  const groups = parseGroups(query.group_by ?? 'day');
  const rate = await store.findCostRate(database.read, caller.account);
  const [total] = await store.listUsageSums(database.read, filter, [], 1);
  const sums = await store.listUsageSums(database.read, filter, groups, USAGE_ROWS_MAX + 1);
  if (sums.length > USAGE_ROWS_MAX)
    throw badRequest(
      `The usage from ${formatDay(firstDay)} to ${formatDay(lastDay)} by ${groups.join(', ')} has more than ${USAGE_ROWS_MAX} groups; give a shorter range or fewer groups.`,
    );
  const applications = sums.flatMap(({ application_id: id }) => id ?? []);
  const nameOf = await store.findApplicationNames(database.read, caller.account, applications);
  const empty = { runs: 0, failed_runs: 0, run_ms: 0, core_ms: 0, bytes: 0 };
  return {
    status: 200,
    body: {
      from: formatDay(firstDay),
      to: formatDay(lastDay),
      cost_rate: rate,
      total: formatMeasures(total ?? empty, rate),
      items: sums.map((sum) => formatRow(sum, rate, nameOf)),
    },
  };
};

export const setCostRate: OperationHandler<'setCostRate'> = async ({ clock }, { caller, body, commit }) =>
  commit(async (tx) => {
    const { currency, per_core_hour } = body;
    const now = await stampCostRate(tx, { caller, now: clock.now() }, body);
    await store.upsertCostRate(tx, caller.account, { currency, per_core_hour });
    return { status: 200, body: { currency, per_core_hour, updated_at: formatRfc3339(now) } };
  });

export const deleteCostRate: OperationHandler<'deleteCostRate'> = async (
  { clock },
  { caller, query, commit },
) =>
  commit(async (tx) => {
    await stampCostRate(tx, { caller, now: clock.now() }, query);
    await store.removeCostRate(tx, caller.account);
    return { status: 204 };
  });

/** Locks the account, and stores and returns the time of a change of its cost rate. Throws a 409 when it is not the one expected. */
async function stampCostRate(
  tx: Writer,
  { caller, now }: { caller: Caller; now: number },
  condition: { expected_updated_at?: string | null },
): Promise<number> {
  const { account } = await lockCallerAccount(tx, caller);
  const last = account.cost_rate_updated_at;
  // The time of a removed rate stays, so that no later rate has it.
  const isSet = (await store.findCostRate(tx, caller.account)) !== null;
  requireSettingUnchanged({ noun: 'cost rate', updatedAt: isSet ? last : null }, condition);
  const cost_rate_updated_at = computeUpdateTime(now, { updated_at: last });
  await updateAccount(tx, caller.account, { cost_rate_updated_at });
  return cost_rate_updated_at;
}

/** Returns the first and the last day of the range, as days since the epoch. Throws a 400 for a range that is too long. */
function parseRange(
  { from, to }: { from?: string; to?: string },
  now: number,
): { firstDay: number; lastDay: number } {
  const lastDay = parseDay(to) ?? Math.floor(now / DAY_MS);
  const firstDay = parseDay(from) ?? lastDay - USAGE_DAYS_DEFAULT + 1;
  if (firstDay > lastDay)
    throw badRequest(
      `from is ${quoteValue(formatDay(firstDay))}, which is after to, ${quoteValue(formatDay(lastDay))}; give a first day before the last.`,
    );
  if (lastDay - firstDay >= USAGE_DAYS_MAX)
    throw badRequest(
      `from is ${quoteValue(formatDay(firstDay))} and to is ${quoteValue(formatDay(lastDay))}: more than ${USAGE_DAYS_MAX} days; give a shorter range.`,
    );
  return { firstDay, lastDay };
}

const parseDay = (day: string | undefined): number | undefined =>
  day === undefined ? undefined : Date.parse(day) / DAY_MS;

const formatDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);

/** Returns the groups in the order in which the response is sorted, each once. */
function parseGroups(text: string): UsageGroup[] {
  const names = new Set(text.split(','));
  return USAGE_GROUPS.filter((name) => names.has(name));
}

function formatMeasures(sum: store.UsageSum, rate: CostRate | null) {
  return {
    runs: sum.runs,
    failed_runs: sum.failed_runs,
    run_seconds: Math.round(sum.run_ms) / 1000,
    core_seconds: Math.round(sum.core_ms) / 1000,
    stored_bytes: sum.bytes,
    cost: rate === null ? null : roundCost((sum.core_ms / HOUR_MS) * rate.per_core_hour),
  };
}

/** Rounds to a millionth of the currency, so that sums of binary fractions show no noise. */
const roundCost = (cost: number): number => Math.round(cost * 1e6) / 1e6;

function formatRow(
  sum: store.UsageSum,
  rate: CostRate | null,
  nameOf: (id: ApplicationId) => string,
): UsageRow {
  const { day, application_id, user_email } = sum;
  return {
    ...(day === undefined ? {} : { day: formatDay(day) }),
    ...(application_id === undefined ? {} : { application_id, application_name: nameOf(application_id) }),
    ...(user_email === undefined ? {} : { user_email }),
    ...formatMeasures(sum, rate),
  };
}
