/** Statements on sign-ins from other devices. An expired row counts as absent. */
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { DeviceAuthorizationsTable } from './schema.ts';

export async function insertAuthorization(tx: Writer, row: DeviceAuthorizationsTable): Promise<void> {
  await tx.insertInto('device_authorizations').values(row).execute();
}

/** Counts the open requests of the server and of one network. */
export async function countOpen(
  tx: Writer,
  network: string,
  now: number,
): Promise<{ all: number; fromNetwork: number }> {
  const rows = await tx
    .selectFrom('device_authorizations')
    .select((eb) => eb.fn.countAll().as('all'))
    .select((eb) => eb.fn.countAll().filterWhere('network', '=', network).as('fromNetwork'))
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return { all: Number(rows.all), fromNetwork: Number(rows.fromNetwork) };
}

/** Finds the network with most undecided requests. */
export async function findLargestNetwork(tx: Writer, now: number): Promise<string | undefined> {
  const row = await tx
    .selectFrom('device_authorizations')
    .select('network')
    .where('expires_at', '>', now)
    .where('status', '=', 'pending')
    .groupBy('network')
    .orderBy((eb) => eb.fn.countAll(), 'desc')
    .orderBy('network')
    .limit(1)
    .executeTakeFirst();
  return row?.network;
}

/** Deletes the oldest undecided request of the network; returns false when it has none. */
export async function deleteOldestPending(tx: Writer, network: string, now: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('device_authorizations')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('device_authorizations')
        .select('id')
        .where('network', '=', network)
        .where('expires_at', '>', now)
        .where('status', '=', 'pending')
        .orderBy('created_at')
        .orderBy('id')
        .limit(1),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Finds the request with the hash of one of its codes. */
export function findByCode(
  db: Reader,
  column: 'device_code_hash' | 'user_code_hash',
  { hash, now }: { hash: string; now: number },
): Promise<DeviceAuthorizationsTable | undefined> {
  return db
    .selectFrom('device_authorizations')
    .selectAll()
    .where(column, '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Stores a decision; returns the row, or undefined when the code is unknown, expired or already decided. */
export function decide(
  tx: Writer,
  { hash, now }: { hash: string; now: number },
  decision: Pick<DeviceAuthorizationsTable, 'status' | 'account_id' | 'key_id' | 'role'>,
): Promise<DeviceAuthorizationsTable | undefined> {
  return tx
    .updateTable('device_authorizations')
    .set(decision)
    .where('user_code_hash', '=', hash)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes the row of a device code and returns it, so that the code works once; undefined for an unknown or expired one. */
export function consume(
  tx: Writer,
  hash: string,
  now: number,
): Promise<DeviceAuthorizationsTable | undefined> {
  return tx
    .deleteFrom('device_authorizations')
    .where('device_code_hash', '=', hash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes at most `limit` expired rows and returns their number. */
export async function deleteExpired(tx: Writer, now: number, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('device_authorizations')
    .where('id', 'in', (eb) =>
      eb.selectFrom('device_authorizations').select('id').where('expires_at', '<=', now).limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
