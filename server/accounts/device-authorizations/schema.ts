/** The table of sign-ins from other devices. */
import type { DeviceStatus } from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, DeviceAuthorizationId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface DeviceAuthorizationsTable {
  id: DeviceAuthorizationId;
  /** SHA-256 of the device code, in base64url: the database never holds the code. */
  device_code_hash: string;
  /** HMAC of the user code under a key of the server: a code of 34 bits would be found from a plain hash. */
  user_code_hash: string;
  client_name: string;
  address: string;
  /** The network of the address, whose open requests are bounded. */
  network: string;
  status: DeviceStatus;
  /** Account and key of the person who decided; null until then. */
  account_id: AccountId | null;
  key_id: KeyId | null;
  /** Role of the key to create; null unless approved. */
  role: Role | null;
  created_at: number;
  expires_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table device_authorizations (
      id text primary key, device_code_hash text not null, user_code_hash text not null,
      client_name text not null, address text not null, network text not null, status text not null,
      account_id text, key_id text, role text, created_at bigint not null, expires_at bigint not null
    )`,
    sql`create unique index device_authorizations_by_device_code_hash on device_authorizations (device_code_hash)`,
    sql`create unique index device_authorizations_by_user_code_hash on device_authorizations (user_code_hash)`,
    sql`create index device_authorizations_by_expiry on device_authorizations (expires_at)`,
  ]);
