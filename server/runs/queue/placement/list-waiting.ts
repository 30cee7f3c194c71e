/** Reads the first queued runs that a plan of claims considers. */
import { EXECUTION_CLASSES, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Reader, Tables, Writer } from '../../../database/database.ts';
import { prepareVariants } from '../../../database/prepared-statements.ts';
import type { WorkerOffer } from '../../../workers/offers.ts';
import type { RunsTable } from '../../store/schema.ts';
import { QUEUED } from '../../store/status-literals.ts';
import { compareQueueOrder, selectQueued } from '../queue-order.ts';
import { wrapLabel } from '../run-requirements.ts';

/** The queued runs of a class that a plan considers: those with licences, and as many of the others. */
const LOOKAHEAD = 64;

const WAITING_COLUMNS = [
  'id',
  'priority',
  'created_at',
  'api_access',
  'workflow_depth',
  'account_id',
  'application_uid',
  'instance_id',
  'executable_id',
  'execution_class',
  'required_labels',
  'required_licenses',
] as const;

export type WaitingRow = Pick<RunsTable, (typeof WAITING_COLUMNS)[number]>;

/** The times between which the retry delay of a run has ended. A later end was written by a worker whose clock was ahead. */
export interface RetryTimes {
  now: number;
  latest: number;
}

type RunExpressions = ExpressionBuilder<Tables, 'runs'>;

export const isRetryDue =
  ({ now, latest }: RetryTimes) =>
  (eb: RunExpressions) =>
    eb.or([eb('retry_at', 'is', null), eb('retry_at', '<=', now), eb('retry_at', '>', latest)]);

/** Selects the quota of runs at once of the application of a run. */
export function selectRunQuota(eb: RunExpressions) {
  return eb
    .selectFrom('application_quotas')
    .select('application_quotas.application_uid')
    .whereRef('application_quotas.application_uid', '=', 'runs.application_uid')
    .where('application_quotas.concurrent_runs', 'is not', null);
}

/** True if the account or the application of a run has a quota of runs at once. */
export function isLimited(eb: RunExpressions) {
  const ofAccount = eb
    .selectFrom('account_quotas')
    .select('account_quotas.account_id')
    .whereRef('account_quotas.account_id', '=', 'runs.account_id')
    .where('account_quotas.concurrent_runs', 'is not', null);
  return eb.or([eb.exists(ofAccount), eb.exists(selectRunQuota(eb))]);
}

/** Returns the labels of a worker as values of a statement: `label0`, `label1` and so on, as runs store them. */
export function nameLabels(labels: readonly string[]): Record<string, string> {
  return Object.fromEntries(labels.map((label, index) => [`label${index}`, wrapLabel(label)]));
}

/**
 * True if the worker has all labels that the run requires: nothing remains of their list without the labels of the worker.
 * Both databases have `replace`, and the list is short; a comparison of sets would need another statement for each of them.
 */
export function hasRequiredLabels(count: number, values: Record<string, unknown>) {
  // The expression of the index of the queue by labels.
  if (count === 0) return sql<SqlBool>`coalesce(required_labels, '') = ''`;
  let rest = sql`required_labels`;
  for (let index = 0; index < count; index += 1) rest = sql`replace(${rest}, ${values[`label${index}`]}, '')`;
  return sql<SqlBool>`(required_labels is null or ${rest} = '')`;
}

/** The parts of an offer that change the statement. */
interface OfferVariant {
  labels: number;
  scope: 'all' | 'account' | 'applications';
  applications: number;
}

type WaitingValues = RetryTimes & { limit: number; account: string } & Record<string, unknown>;

const selectWaiting = prepareVariants(
  ({ labels, scope, applications }: OfferVariant) => `${labels} ${scope} ${applications}`,
  (db, variant: OfferVariant, values: WaitingValues) => {
    const parts = EXECUTION_CLASSES.flatMap((name) => [
      selectPart(db, name, { variant, values, hasLicenses: false }),
      selectPart(db, name, { variant, values, hasLicenses: true }),
    ]);
    const [first, ...others] = parts;
    if (!first) throw new Error('There is no execution class.');
    return others.reduce((union, part) => union.unionAll(part), first);
  },
);

/** Selects the first runs of a class. Runs of other workers that need licences count too, because they compete for the tokens. */
function selectPart(
  db: Reader,
  name: ExecutionClass,
  { variant, values, hasLicenses }: { variant: OfferVariant; values: WaitingValues; hasLicenses: boolean },
) {
  let query = selectQueued(db, name)
    .select(WAITING_COLUMNS)
    .select((eb) => isLimited(eb).as('is_limited'))
    .where('required_licenses', hasLicenses ? 'is not' : 'is', null)
    .where(isRetryDue(values))
    .limit(values.limit);
  if (variant.scope !== 'all') query = query.where('account_id', '=', values.account as AccountId);
  if (!hasLicenses) {
    query = query.where(hasRequiredLabels(variant.labels, values));
    if (variant.scope === 'applications')
      query = query.where(
        'application_uid',
        'in',
        Array.from({ length: variant.applications }, (_, index) => values[`application${index}`] as string),
      );
  }
  return db.selectFrom(query.as('part')).select([...WAITING_COLUMNS, 'is_limited']);
}

/** Lists the first queued runs of each class, as far as they matter to a worker with this offer, in queue order. */
export async function listWaiting(
  tx: Writer,
  { labels, scope }: WorkerOffer,
  times: RetryTimes,
): Promise<(WaitingRow & { is_limited: SqlBool })[]> {
  const applications = scope?.applicationUids ?? null;
  const variant: OfferVariant = {
    labels: labels.length,
    scope: scope === null ? 'all' : applications === null ? 'account' : 'applications',
    applications: applications?.length ?? 0,
  };
  const rows = await selectWaiting(tx, variant, {
    ...times,
    limit: LOOKAHEAD,
    account: scope?.account ?? '',
    ...nameLabels(labels),
    ...Object.fromEntries((applications ?? []).map((uid, index) => [`application${index}`, uid])),
  });
  return rows.sort(compareQueueOrder);
}

interface OfAccount extends RetryTimes {
  account: AccountId;
  /** Empty for the applications without a quota of runs at once. */
  applicationUid: string;
  limit: number;
}

const selectOfAccount = prepareVariants(
  (isOfApplication: boolean) => `${isOfApplication}`,
  (db, isOfApplication: boolean, { account, applicationUid, limit, ...times }: OfAccount) =>
    db
      .selectFrom('runs')
      .select(WAITING_COLUMNS)
      .where('status', '=', QUEUED)
      .where('account_id', '=', account)
      .where((eb) =>
        isOfApplication ? eb('application_uid', '=', applicationUid) : eb.not(eb.exists(selectRunQuota(eb))),
      )
      .where(isRetryDue(times))
      .orderBy('priority')
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit),
);

/**
 * Lists the first queued runs of each account, and of each application that has a quota, in queue order. So a long queue that
 * waits for a quota hides no run of others.
 */
export async function listWaitingOfAccounts(
  tx: Writer,
  accounts: readonly { account: AccountId; limitedApplications: readonly string[] }[],
  times: RetryTimes,
): Promise<WaitingRow[]> {
  const rows: WaitingRow[] = [];
  for (const { account, limitedApplications } of accounts)
    for (const applicationUid of ['', ...limitedApplications])
      rows.push(
        ...(await selectOfAccount(tx, applicationUid !== '', {
          ...{ account, applicationUid, limit: LOOKAHEAD },
          ...times,
        })),
      );
  return rows.sort(compareQueueOrder);
}
