/** A database as the server has it, without a server. */

import type { Database } from '../../database/database.ts';
import { migrate } from '../../database/migrate.ts';
import { migrations } from '../../migrations.ts';

/** Applies every migration of the server. */
export async function migrateAll(database: Database): Promise<void> {
  await migrate(database, migrations);
}
