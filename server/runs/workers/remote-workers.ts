/** Statements on the rows of remote workers. */
import type { Database, Reader } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { CallingWorker } from '../../platform/http/handlers/handler.ts';
import type { WorkerOffer } from './offers.ts';
import { createOfferReader } from './read-offers.ts';

/** A registered remote worker. */
export interface RemoteWorker {
  id: string;
  containment: 'sandbox' | 'limits';
  offer: WorkerOffer;
  isDraining: boolean;
  /** When the last stored sync arrived, in milliseconds. */
  heartbeatAt: number;
}

/** Heartbeats that follow each other faster are not stored. A worker counts as unresponsive after HEARTBEAT_TIMEOUT_MS. */
const HEARTBEAT_RESOLUTION_MS = 500;

const selectWorker = prepareStatement((db, { id, tokenId }: { id: string; tokenId: string }) =>
  db.selectFrom('workers').selectAll().where('id', '=', id).where('token_id', '=', tokenId),
);

/** Returns the worker; throws a 404 when it is not registered with the token. */
export async function getRemoteWorker(
  db: Reader,
  { tokenId }: CallingWorker,
  id: string,
): Promise<RemoteWorker> {
  const [row] = await selectWorker(db, { id, tokenId });
  if (!row)
    throw notFound(
      `There is no worker ${quoteValue(id)} of this token; it was removed because its heartbeats had stopped. Register it again.`,
    );
  return {
    id: row.id,
    containment: row.containment,
    offer: (await createOfferReader(db, [row]))(row),
    isDraining: row.draining_at !== null,
    heartbeatAt: row.heartbeat_at,
  };
}

/**
 * Stores a heartbeat, unless the last one is recent; does nothing when the worker is not registered any more. A busy worker
 * sends a hundred syncs a second, and a transaction for each delays the claim that follows.
 */
export async function storeHeartbeat(
  database: Database,
  { id, heartbeatAt }: Pick<RemoteWorker, 'id' | 'heartbeatAt'>,
  now: number,
): Promise<void> {
  // A clock that was set back gives a negative age.
  const ageMs = now - heartbeatAt;
  if (ageMs >= 0 && ageMs < HEARTBEAT_RESOLUTION_MS) return;
  await database.transact(
    (tx) => tx.updateTable('workers').set({ heartbeat_at: now }).where('id', '=', id).execute(),
    { durable: false },
  );
}
