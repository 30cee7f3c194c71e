import type { SecretsCollectionSummary } from '@switchyard/contract/applications/secrets.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import { queryClient } from '../../client/queries.ts';

/** The secrets collections of the application, newest first, by pages. */
export const collectionsQuery = (application: string) =>
  pagedQuery<SecretsCollectionSummary>(['listSecretsCollections', application], async (query, signal) => {
    const params = { application_id: application };
    return (await client.call('listSecretsCollections', { params, query, signal })).body;
  });

/** A secret without its value. */
export interface SecretName {
  type: 'env' | 'file';
  location: string;
}

/** Reads the names of the secrets. The response has the values too, which are dropped here; the server audits the request. */
export async function fetchSecretNames(application: string, collection: string): Promise<SecretName[]> {
  const params = { application_id: application, collection_id: collection };
  const { body } = await client.call('getSecretsCollection', { params });
  return body.secrets.map(({ type, location }) => ({ type, location }));
}

/** Reads the collections again after a change. */
export async function refreshCollections(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['listSecretsCollections'] });
}
