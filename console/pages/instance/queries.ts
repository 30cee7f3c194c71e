import { operationQuery, queryClient } from '../../client/queries.ts';

/** The secrets collections that an instance can use, without their values. */
export const collectionsQuery = (application: string) =>
  operationQuery('listSecretsCollections', { params: { application_id: application }, query: {} });

/** Reads again everything that shows instances. */
export async function refreshInstances(): Promise<void> {
  await Promise.all(
    ['getInstance', 'listInstances', 'getApplication'].map((id) =>
      queryClient.invalidateQueries({ queryKey: [id] }),
    ),
  );
}
