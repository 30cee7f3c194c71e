/** The table of sign-ins from other devices. */
import type { DeviceStatus } from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, DeviceAuthorizationId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

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

declare module '../database/database.ts' {
  interface Tables {
    device_authorizations: DeviceAuthorizationsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0170-device-authorizations',
    async up(db) {
      await db.schema
        .createTable('device_authorizations')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('device_code_hash', 'text', (column) => column.notNull())
        .addColumn('user_code_hash', 'text', (column) => column.notNull())
        .addColumn('client_name', 'text', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('network', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('account_id', 'text')
        .addColumn('key_id', 'text')
        .addColumn('role', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute();
      for (const column of ['device_code_hash', 'user_code_hash'])
        await db.schema
          .createIndex(`device_authorizations_by_${column}`)
          .on('device_authorizations')
          .column(column)
          .unique()
          .execute();
      await db.schema
        .createIndex('device_authorizations_by_expiry')
        .on('device_authorizations')
        .column('expires_at')
        .execute();
    },
  },
];
