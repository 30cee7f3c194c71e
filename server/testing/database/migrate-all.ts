/** A database as the server has it, without a server. */

import type { Database } from '../../database/database.ts';
import { type Migration, migrate } from '../../database/migrate.ts';
import { migrations } from '../../migrations.ts';

/** Applies every migration of the server, and then the further ones. */
export async function migrateAll(database: Database, further: readonly Migration[] = []): Promise<void> {
  await migrate(database, [...migrations, ...further]);
}
