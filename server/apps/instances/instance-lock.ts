/** Locks of instances: a locked instance refuses everything that would change it. */
import { isDeepStrictEqual } from 'node:util';
import { formatRfc3339 } from '../../platform/clock.ts';
import { quoteValue } from '../../platform/http/errors/problem.ts';
import { completeConfiguration, parseConfiguration, type RequestedConfiguration } from './rules.ts';
import type { InstancesTable } from './schema.ts';

const CONFIGURATION_FIELDS = [
  'execution_class',
  'options',
  'secrets_collection_id',
  'queuing',
  'format',
  'network',
  'api_access',
  'requirements',
] as const;

/** Returns the sentence that refuses a change of a locked instance: who locked it, when, and the remedy. */
export function describeLock({ id, locked_by, locked_at }: InstancesTable): string {
  return `The instance ${quoteValue(id)} is locked: ${locked_by} locked it at ${formatRfc3339(locked_at ?? 0)}. Unlock it first.`;
}

/** The fields of an update; an absent or null one changes nothing. */
interface InstanceChanges {
  name?: string;
  description?: string;
  version_id?: string;
  configuration?: RequestedConfiguration | null | undefined;
}

/**
 * Returns true when a given field differs from the instance. Absent fields of the configuration count as equal, although an
 * update sets them to their defaults: clients omit the fields that they do not know.
 */
export function changesInstance(instance: InstancesTable, changes: InstanceChanges): boolean {
  for (const field of ['name', 'description', 'version_id'] as const)
    if (changes[field] !== undefined && changes[field] !== instance[field]) return true;
  const requested = changes.configuration;
  if (!requested) return false;
  const before = completeConfiguration(parseConfiguration(instance));
  const after = completeConfiguration(requested);
  return CONFIGURATION_FIELDS.some(
    (field) => requested[field] != null && !isDeepStrictEqual(after[field], before[field]),
  );
}
