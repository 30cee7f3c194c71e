/** Migrates a database for tests that need no server. */

import type { Database } from '../../database/database.ts';
import { type Migration, migrate } from '../../database/migrate.ts';
import { migrations } from '../../migrations.ts';

/** Applies every migration of the server, and then the migrations of the test. */
export async function migrateAll(database: Database, extra: readonly Migration[] = []): Promise<void> {
  await migrate(database, [...migrations, ...extra]);
}

/** Applies the migrations of an older release: those up to the number, such as `0044`. */
export async function migrateUntil(database: Database, number: string): Promise<void> {
  await migrate(
    database,
    migrations.filter(({ name }) => name.slice(0, number.length) <= number),
  );
}
