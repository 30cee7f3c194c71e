/** Migrates a database for tests that need no server. */

import { migrations } from '../../ops/migrations.ts';
import type { Database } from '../../platform/database/database.ts';
import { type Migration, migrate } from '../../platform/database/migrate.ts';

/** Applies every migration of the server, and then the migrations of the test. */
export async function migrateAll(database: Database, extra: readonly Migration[] = []): Promise<void> {
  await migrate(database, [...migrations, ...extra]);
}
