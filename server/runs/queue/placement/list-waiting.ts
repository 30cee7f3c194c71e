/** Reads the first queued runs that a plan of claims considers. */
import type { ExpressionBuilder } from 'kysely';
import { listLicenses } from '../../../accounts/usage/licenses-store.ts';
import type { Tables, Writer } from '../../../platform/database/database.ts';
import { prepareVariants } from '../../../platform/database/prepared-statements.ts';
import type { RunsTable } from '../../store/schema.ts';
import { isInScope, listMissingLabels } from '../../workers/offers.ts';
import type { ClaimRequest } from '../claim-request.ts';
import { findTokens, listTokenHolders } from '../license-use.ts';
import { type FreeRuns, orderFairly } from '../order/fair-order.ts';
import { formatRequirementsKey, type Lane } from '../order/lanes.ts';
import { type LanePart, readInOrder, selectLanePart } from '../order/read-queue.ts';
import { isRetryDue, type RetryTimes } from '../order/retry-times.ts';
import { readSlotUse } from '../order/slot-use.ts';
import { describeDemand } from '../run-requirements.ts';

/**
 * The queued runs of a class that a plan considers: those with licences, and as many of the others. The accounts share them,
 * so that no account hides the runs of others behind its own that cannot start.
 */
const LOOKAHEAD = 64;
const LOOKAHEAD_OF_ACCOUNT_MIN = 8;

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
  'max_duration',
  'required_labels',
  'required_licenses',
] as const;

export type WaitingRow = Pick<RunsTable, (typeof WAITING_COLUMNS)[number]>;

type RunExpressions = ExpressionBuilder<Tables, 'runs'>;

/**
 * True for a run of a subscribed application whose publisher does not give the program to the token of the worker. It is checked
 * by the claim, because the offer of a worker that has waited may be older than the subscription.
 */
function isProgramHidden(eb: RunExpressions, workerId: string) {
  return eb.exists(
    eb
      .selectFrom('applications')
      .select('applications.uid')
      .whereRef('applications.uid', '=', 'runs.application_uid')
      .where('applications.subscription_id', 'is not', null)
      .where((app) =>
        app.not(
          app.exists(
            app
              .selectFrom('allowed_worker_tokens')
              .innerJoin('workers', 'workers.token_id', 'allowed_worker_tokens.worker_token_id')
              .select('workers.id')
              .whereRef('allowed_worker_tokens.subscription_id', '=', 'applications.subscription_id')
              .where('workers.id', '=', workerId),
          ),
        ),
      ),
  );
}

/** `isScoped`: the worker executes runs of one account, and the programs of some applications are hidden from it. */
const selectWaiting = prepareVariants(
  (isScoped: boolean) => `${isScoped}`,
  (db, isScoped: boolean, part: LanePart & RetryTimes & { workerId: string }) =>
    selectLanePart(db, part)
      .select(WAITING_COLUMNS)
      .where(isRetryDue(part))
      .where((eb) => (isScoped ? eb.not(isProgramHidden(eb, part.workerId)) : eb.lit(true))),
);

interface WaitingRequest {
  lanes: readonly Lane[];
  free: FreeRuns;
  times: RetryTimes;
}

/**
 * Lists the first queued runs of each class, as far as they matter to a worker with this offer, in queue order. Runs for which a
 * quota leaves no start do not matter, nor do those that need more tokens than the account has. Runs of other workers that
 * need licences do, because they compete for the tokens.
 */
export async function listWaiting(
  tx: Writer,
  { workerId, offer }: Pick<ClaimRequest, 'workerId' | 'offer'>,
  { lanes, free, times }: WaitingRequest,
): Promise<WaitingRow[]> {
  const tokens = await readTokens(tx, lanes);
  const relevant = lanes.filter((lane) => {
    if (free.accounts.get(lane.account_id) === 0 || free.applications.get(lane.application_uid) === 0)
      return false;
    if (offer.scope !== null && offer.scope.account !== lane.account_id) return false;
    if (lane.required_licenses !== null) return tokens(lane) !== 'missing';
    const demand = describeDemand(lane);
    return isInScope(offer, demand) && listMissingLabels(offer, demand).length === 0;
  });
  const withoutTokens = new Set(relevant.filter((lane) => tokens(lane) === 'taken').map(formatTokensKey));
  const read = (part: LanePart): Promise<WaitingRow[]> | WaitingRow[] => {
    const select = (limit: number) =>
      selectWaiting(tx, offer.scope !== null, { ...part, ...times, workerId, limit });
    if (!withoutTokens.has(`${part.account_id} ${part.requirements}`)) return select(part.limit);
    // The first one may have a reservation, and none after it can start before.
    return part.id === '' ? select(1) : [];
  };
  const use = await readSlotUse(tx, times.now);
  const rows: WaitingRow[] = [];
  const groups = Map.groupBy(
    relevant,
    (lane) => `${lane.execution_class} ${lane.required_licenses !== null}`,
  );
  for (const group of groups.values()) {
    const ofAccounts = Map.groupBy(group, (lane) => lane.account_id);
    const share = Math.max(LOOKAHEAD_OF_ACCOUNT_MIN, Math.floor(LOOKAHEAD / ofAccounts.size));
    for (const ofAccount of ofAccounts.values())
      rows.push(...(await readInOrder(tx, { lanes: ofAccount, read, limit: share, use, now: times.now })));
  }
  return orderFairly(rows, use);
}

type Tokens = ReturnType<typeof findTokens>;

const formatTokensKey = (lane: Lane): string => `${lane.account_id} ${formatRequirementsKey(lane)}`;

/** Returns a function that says whether the tokens of a lane are free, as far as it can be known without a lock. */
async function readTokens(tx: Writer, lanes: readonly Lane[]): Promise<(lane: Lane) => Tokens> {
  if (lanes.every((lane) => lane.required_licenses === null)) return () => 'free';
  const licenses = await listLicenses(tx);
  const holders = await listTokenHolders(tx);
  const known = new Map<string, Tokens>();
  return (lane) => {
    const key = formatTokensKey(lane);
    const tokens = known.get(key) ?? findTokens(lane, licenses, holders);
    known.set(key, tokens);
    return tokens;
  };
}
