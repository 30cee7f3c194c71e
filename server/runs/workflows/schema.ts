/** Tables of workflows: the child runs of each run whose app created runs, and the graphs that apps sent. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../../database/migrate.ts';

/** A child run, under the request that created it; see children.ts. */
interface RunChildrenTable {
  parent_run_id: RunId;
  /** SHA-256 of the request, in hex. */
  fingerprint: string;
  /** Counts equal requests of one attempt from 1. */
  occurrence: number;
  run_id: RunId;
  /** The fencing token of the last attempt of the parent that made this request. */
  fence: number;
}

interface RunFlowsTable {
  run_id: RunId;
  /** The graph in JSON. */
  graph: string;
  updated_at: number;
}

declare module '../../database/database.ts' {
  interface Tables {
    run_children: RunChildrenTable;
    run_flows: RunFlowsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0131-workflows',
    async up(db) {
      for (const column of ['api_access', 'workflow'] as const)
        await db.schema.alterTable('runs').addColumn(column, 'text').execute();
      await db.schema.alterTable('runs').addColumn('slot_released_at', 'bigint').execute();
      await db.schema
        .alterTable('runs')
        .addColumn('workflow_depth', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema
        .createTable('run_children')
        .addColumn('parent_run_id', 'text', (column) => column.notNull())
        .addColumn('fingerprint', 'text', (column) => column.notNull())
        .addColumn('occurrence', 'integer', (column) => column.notNull())
        .addColumn('run_id', 'text', (column) => column.notNull())
        .addColumn('fence', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('run_children_key', ['parent_run_id', 'fingerprint', 'occurrence'])
        .execute();
      await db.schema.createIndex('run_children_by_run').on('run_children').column('run_id').execute();
      await db.schema
        .createTable('run_flows')
        .addColumn('run_id', 'text', (column) => column.primaryKey())
        .addColumn('graph', 'text', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
];
