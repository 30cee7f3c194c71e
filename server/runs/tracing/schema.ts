/** The columns of runs from which their spans follow; see RunsTable. */
import type { Migration } from '../../database/migrate.ts';

export const migrations: readonly Migration[] = [
  {
    name: '0155-traces-of-runs',
    async up(db) {
      await db.schema.alterTable('runs').addColumn('trace_context', 'text').execute();
      await db.schema.alterTable('runs').addColumn('requeued_at', 'bigint').execute();
    },
  },
];
