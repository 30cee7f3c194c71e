/**
 * Publishes the text of each statement before a database merges or caches it. Only tests subscribe: they prove that PostgreSQL
 * executes every statement which SQLite does (server/testing/database/record-statements.ts).
 */
import { channel } from 'node:diagnostics_channel';
import type { KyselyConfig } from 'kysely';

const statements = channel('switchyard:statements');

/** Returns the setting with which Kysely publishes its statements; none without a subscriber, so that it measures nothing. */
export function publishStatements(): Pick<KyselyConfig, 'log'> {
  return statements.hasSubscribers ? { log: ({ query }) => statements.publish(query.sql) } : {};
}

/** Returns the executor of prepared statements, which publishes their texts where somebody subscribed. */
export function publishPrepared<Execute extends (sql: string, ...more: never[]) => unknown>(
  execute: Execute,
): Execute {
  if (!statements.hasSubscribers) return execute;
  const publishing = (sql: string, ...more: never[]): unknown => {
    statements.publish(sql);
    return execute(sql, ...more);
  };
  return publishing as Execute;
}
