/**
 * Licence tokens in use. A run occupies its tokens while a worker holds its lease. A workflow that waits without a slot keeps
 * them, because its app continues. So does the run of a dead worker whose lease has not expired.
 */
import type { License, LicenseHolder } from '@switchyard/contract/licenses.ts';
import { SLOT_HOLDERS_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { listLicenses } from '../../accounts/usage/licenses-store.ts';
import type { AccountLicensesTable } from '../../accounts/usage/schema.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { LicenseTokens } from '../../platform/http/metrics.ts';
import { RUNNING, type RunsTable } from '../store/schema.ts';
import { HOLDER_COLUMNS } from './queue-order.ts';
import { readLicenses } from './run-requirements.ts';

/** A running run that occupies licence tokens. */
export type TokenHolder = Pick<RunsTable, (typeof HOLDER_COLUMNS)[number]>;

const selectHolders = prepareStatement((db) =>
  db
    .selectFrom('runs')
    .select(HOLDER_COLUMNS)
    .where('status', '=', RUNNING)
    .where('worker_id', 'is not', null)
    .where('required_licenses', 'is not', null)
    .orderBy('initiated_at')
    .orderBy('id'),
);

/** Lists the running runs of all accounts that occupy tokens, oldest first: never more than workers execute. */
export function listTokenHolders(db: Reader): Promise<TokenHolder[]> {
  return selectHolders(db, {});
}

/** Returns the number of tokens of the licence that the runs of the account occupy. */
export function countUsedTokens(
  holders: readonly TokenHolder[],
  { account_id, name }: Pick<AccountLicensesTable, 'account_id' | 'name'>,
): number {
  return filterHolders(holders, account_id, name).reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Says whether an account has the tokens that a run requires, and whether they are free. */
export function findTokens(
  run: Pick<RunsTable, 'id' | 'account_id' | 'required_labels' | 'required_licenses'>,
  licenses: readonly AccountLicensesTable[],
  holders: readonly TokenHolder[],
): 'free' | 'taken' | 'missing' {
  const required = Object.entries(readLicenses(run)).map(([name, count]) => {
    const license = licenses.find((one) => one.account_id === run.account_id && one.name === name);
    return { count, total: license?.total ?? 0, used: license ? countUsedTokens(holders, license) : 0 };
  });
  if (required.some(({ count, total }) => count > total)) return 'missing';
  return required.some(({ count, total, used }) => used + count > total) ? 'taken' : 'free';
}

/** Returns those whose accounts have the tokens that they need, and with `areFree`, have them free now. */
export async function filterByTokens<T extends Parameters<typeof findTokens>[0]>(
  db: Reader,
  candidates: readonly T[],
  { areFree }: { areFree: boolean },
): Promise<readonly T[]> {
  if (candidates.every((one) => one.required_licenses === null)) return candidates;
  const licenses = await listLicenses(db);
  const holders = areFree ? await listTokenHolders(db) : [];
  return candidates.filter((one) => findTokens(one, licenses, holders) === 'free');
}

/** Counts the tokens of the licences of all accounts by name, and those in use. */
export async function countTokens(db: Reader): Promise<LicenseTokens[]> {
  const licenses = await listLicenses(db);
  const holders = licenses.length === 0 ? [] : await listTokenHolders(db);
  const tokens = new Map<string, LicenseTokens>();
  for (const row of licenses) {
    const { total, used } = tokens.get(row.name) ?? { total: 0, used: 0 };
    tokens.set(row.name, {
      license: row.name,
      total: total + row.total,
      used: used + countUsedTokens(holders, row),
    });
  }
  return [...tokens.values()];
}

/** Formats a licence of the account, with the runs that occupy its tokens. */
export function formatLicense(
  { account_id, name, total }: AccountLicensesTable,
  holders: readonly TokenHolder[],
): License {
  const own = filterHolders(holders, account_id, name);
  return {
    name,
    total,
    used: own.reduce((sum, { tokens }) => sum + tokens, 0),
    holders: own.slice(0, SLOT_HOLDERS_MAX).map(
      ({ run, tokens }): LicenseHolder => ({
        run_id: run.id,
        application_id: run.application_id,
        started_at: formatRfc3339(run.initiated_at ?? 0),
        tokens,
      }),
    ),
  };
}

function filterHolders(holders: readonly TokenHolder[], account: AccountId, name: string) {
  return holders
    .filter((run) => run.account_id === account)
    .flatMap((run) => {
      const tokens = new Map(Object.entries(readLicenses(run))).get(name);
      return tokens === undefined ? [] : [{ run, tokens }];
    });
}
