/** Response bodies of secrets collections. */
import type { SecretsCollectionSummary } from '@switchyard/contract/applications/secrets.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import type { CollectionSummary } from './store.ts';

/** Formats the collection without its secrets. */
export function formatCollectionSummary(
  application: ApplicationsTable,
  row: CollectionSummary,
): SecretsCollectionSummary {
  return {
    id: row.id,
    application_id: application.id,
    name: row.name,
    description: row.description,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}
