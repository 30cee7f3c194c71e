/** Statements on the rows of remote workers. */

import type { Database, Reader } from '../database/database.ts';
import { notFound, quoteValue } from '../http/errors/problem.ts';
import type { CallingWorker } from '../http/handlers/handler.ts';
import { parseOffer, type WorkerOffer } from './offers.ts';

/** A registered remote worker. */
export interface RemoteWorker {
  id: string;
  containment: 'sandbox' | 'limits';
  offer: WorkerOffer;
  isDraining: boolean;
}

/** Returns the worker; throws a 404 when it is not registered with the token. */
export async function getRemoteWorker(
  db: Reader,
  { tokenId }: CallingWorker,
  id: string,
): Promise<RemoteWorker> {
  const row = await db
    .selectFrom('workers')
    .selectAll()
    .where('id', '=', id)
    .where('token_id', '=', tokenId)
    .executeTakeFirst();
  if (!row)
    throw notFound(
      `There is no worker ${quoteValue(id)} of this token; it was removed because its heartbeats had stopped. Register it again.`,
    );
  return {
    id: row.id,
    containment: row.containment ?? 'limits',
    offer: parseOffer(row),
    isDraining: row.draining_at !== null,
  };
}

/** Stores a heartbeat; does nothing when the worker is not registered any more. */
export async function storeHeartbeat(database: Database, id: string, now: number): Promise<void> {
  await database.transact(
    (tx) => tx.updateTable('workers').set({ heartbeat_at: now }).where('id', '=', id).execute(),
    { durable: false },
  );
}
