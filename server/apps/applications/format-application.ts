/** Response bodies of applications. */
import type { Application } from '@switchyard/contract/applications/applications.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { formatExecutable } from './executable.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';

/** Formats the application for a caller with the role; `executable` is its active executable. */
export function formatApplication(
  row: ApplicationsTable,
  executable: ExecutablesTable | undefined,
  role: Role,
): Application {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    type: row.type,
    default_instance: row.default_instance,
    default_experiment_instance: row.default_experiment_instance,
    subscription_id: row.subscription_id ?? '',
    active_executable: executable ? formatExecutable(executable, role) : null,
    html_assets_trusted: row.html_trusted_at !== null,
    html_assets_trusted_by: row.html_trusted_by || null,
    html_assets_trusted_at: row.html_trusted_at === null ? null : formatRfc3339(row.html_trusted_at),
    locked: false,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}
