/** A database as the server has it, without a server. */
import { migrations } from '../api/migrations.ts';
import type { Database } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';

/** Applies every migration of the server. */
export async function migrateWhole(database: Database): Promise<void> {
  await migrate(database, migrations);
}
