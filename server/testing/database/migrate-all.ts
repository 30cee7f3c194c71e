/** Migrates a database for tests that need no server. */

import type { Database } from '../../database/database.ts';
import { type Migration, migrate } from '../../database/migrate.ts';
import { migrations } from '../../migrations.ts';

/** Applies every migration of the server, and then the migrations of the test. */
export async function migrateAll(database: Database, extra: readonly Migration[] = []): Promise<void> {
  await migrate(database, [...migrations, ...extra]);
}
