/** Response bodies of versions. */
import type { Version } from '@switchyard/contract/applications/versions.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ExecutableId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import { formatExecutable } from '../applications/executable.ts';
import { findExecutables } from '../applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import type { VersionsTable } from './schema.ts';

/** Formats versions of one application in the order of the rows; skips a version whose executable is gone. */
export async function formatVersions(
  db: Reader,
  application: ApplicationsTable,
  rows: readonly VersionsTable[],
  role: Role,
): Promise<Version[]> {
  const executables = await findExecutables(db, [...new Set(rows.map((row) => row.executable_id))]);
  const byId = new Map<ExecutableId, ExecutablesTable>(executables.map((one) => [one.id, one]));
  return rows.flatMap((row) => {
    const executable = byId.get(row.executable_id);
    if (!executable) return [];
    return [
      {
        id: row.id,
        application_id: application.id,
        name: row.name,
        description: row.description,
        executable: formatExecutable(executable, role),
        created_at: formatRfc3339(row.created_at),
        updated_at: formatRfc3339(row.updated_at),
      },
    ];
  });
}

/** Formats one version; throws a 404 when its executable was removed after the row was read. */
export async function formatVersion(
  db: Reader,
  application: ApplicationsTable,
  row: VersionsTable,
  role: Role,
): Promise<Version> {
  const [version] = await formatVersions(db, application, [row], role);
  if (!version) throw notFound(`The version ${quoteValue(row.id)} is gone.`);
  return version;
}
