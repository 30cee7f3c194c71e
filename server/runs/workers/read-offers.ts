/** Reads the offers of workers, with the applications whose program their tokens must not receive. */
import { selectSubscribedApplications } from '../../apps/marketplace/allowed-worker-tokens.ts';
import type { Reader } from '../../platform/database/database.ts';
import { parseOffer, type WorkerOffer } from './offers.ts';
import type { WorkersTable } from './schema.ts';

type OfferRow = Pick<WorkersTable, 'id' | 'labels' | 'cores' | 'memory_bytes' | 'scope' | 'token_id'>;

/** Returns the offer of a row. Throws for a row that cannot be parsed. */
export type OfferReader = (row: OfferRow) => WorkerOffer;

/** Returns the function that reads the offers of the rows. A worker of the server has no scope, and needs no query. */
export async function createOfferReader(db: Reader, rows: readonly OfferRow[]): Promise<OfferReader> {
  const isScoped = rows.some(({ scope }) => scope !== null);
  const subscribed = isScoped ? await selectSubscribedApplications(db, {}) : [];
  return (row) => {
    const { scope, ...offer } = parseOffer(row);
    if (scope === null || subscribed.length === 0) return { ...offer, scope };
    const ofAccount = subscribed.filter(({ account_id }) => account_id === scope.account);
    const allowed = new Set(ofAccount.filter((one) => one.allowed === row.token_id).map(({ uid }) => uid));
    const hidden = new Set(ofAccount.map(({ uid }) => uid).filter((uid) => !allowed.has(uid)));
    return { ...offer, scope: hidden.size === 0 ? scope : { ...scope, hiddenUids: [...hidden] } };
  };
}
