/** The columns of runs with their requirements; see run-requirements.ts. */
import { sql } from 'kysely';
import type { Migration } from '../../database/migrate.ts';

export const migrations: readonly Migration[] = [
  {
    name: '0143-requirements-of-runs',
    async up(db) {
      await db.schema.alterTable('runs').addColumn('required_labels', 'text').execute();
      await db.schema.alterTable('runs').addColumn('required_licenses', 'text').execute();
    },
  },
  {
    name: '0145-queue-by-labels',
    async up(db) {
      // A worker without labels finds its runs behind any number of runs that wait for a label. The expression is compared
      // by equality, because PostgreSQL does not use the order of an index after `is null`.
      await sql`create index runs_queued_by_labels on runs (coalesce(required_labels, ''), execution_class, priority, created_at, id) where status = 'queued'`.execute(
        db,
      );
      await sql`create index runs_queued_with_licenses on runs (execution_class, priority, created_at, id) where status = 'queued' and required_licenses is not null`.execute(
        db,
      );
    },
  },
];
