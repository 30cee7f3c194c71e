/** Workers: the processes that run apps. A run is leased to a worker; a worker whose heartbeat stops loses its leases. */
import type { Migration } from '../database/migrate.ts';

interface WorkersTable {
  id: string;
  /** The data folder of the worker. It locks the folder, so a newer worker in it proves that the older one is dead. */
  folder_id: string;
  /** Capacity in JSON. */
  capacity: string;
  heartbeat_at: number;
}

declare module '../database/database.ts' {
  interface Tables {
    workers: WorkersTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0007-workers',
    async up(db) {
      await db.schema
        .createTable('workers')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('folder_id', 'text', (column) => column.notNull())
        .addColumn('capacity', 'text', (column) => column.notNull())
        .addColumn('heartbeat_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
];
