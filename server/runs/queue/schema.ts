/** The columns of runs with their requirements; see run-requirements.ts. */
import type { Migration } from '../../database/migrate.ts';

export const migrations: readonly Migration[] = [
  {
    name: '0143-requirements-of-runs',
    async up(db) {
      await db.schema.alterTable('runs').addColumn('required_labels', 'text').execute();
      await db.schema.alterTable('runs').addColumn('required_licenses', 'text').execute();
    },
  },
];
