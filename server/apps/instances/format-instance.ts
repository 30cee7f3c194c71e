/** Response bodies of instances. */
import type { Instance } from '@switchyard/contract/applications/instances.ts';
import type { InstanceId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { omitHiddenOptions, type VersionInfo } from './hidden-options.ts';
import { completeConfiguration, parseConfiguration } from './rules.ts';
import type { InstancesTable } from './schema.ts';

/** Formats the instance without options that are hidden from the caller's role. */
export function formatInstance(
  application: ApplicationsTable,
  row: InstancesTable,
  { hiddenOptions, isDeleted }: VersionInfo,
): Instance {
  const configuration = parseConfiguration(row);
  return {
    id: row.id,
    application_id: application.id,
    version_id: row.version_id,
    ...(isDeleted ? { version_deleted: true } : {}),
    name: row.name,
    description: row.description,
    configuration: completeConfiguration(omitHiddenOptions(configuration, hiddenOptions)),
    locked: row.locked_at !== null,
    ...(row.locked_by === null ? {} : { locked_by: row.locked_by }),
    ...(row.locked_at === null ? {} : { locked_at: formatRfc3339(row.locked_at) }),
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

/** Formats a reserved instance such as `latest`, which every application has without a row. */
export function formatLatestInstance(application: ApplicationsTable, id: InstanceId): Instance {
  return {
    id,
    application_id: application.id,
    version_id: '',
    name: 'Latest executable',
    description: 'Runs the executable pushed last.',
    configuration: completeConfiguration({}),
    locked: true,
    created_at: formatRfc3339(application.created_at),
    updated_at: formatRfc3339(application.updated_at),
  };
}
