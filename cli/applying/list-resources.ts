/** The resources of a file in the order in which they depend on each other. */
import type { Client } from '@switchyard/contract/client.ts';
import { findOrNone } from '../errors/find-or-none.ts';
import { listItems } from '../session/list-items.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { ApplicationEntry, SwitchyardFile } from './file-schema.ts';
import { isCandidate } from './promotion/promotion-state.ts';
import {
  describeAccountQuotas,
  describeApplication,
  describeApplicationQuotas,
  describeDefaults,
  describeRetention,
} from './resources/application-resources.ts';
import { describeInstance } from './resources/instance-resource.ts';
import type { Resource } from './resources/resource.ts';
import { describeSecrets, listCollections } from './resources/secrets-resource.ts';
import { describeWebhook } from './resources/webhook-resource.ts';

interface ResourceSettings {
  client: Client;
  terminal: Pick<Terminal, 'cwd' | 'env'>;
  /** true: also resources that the file does not have, to be deleted. */
  prune: boolean;
}

/** Returns the resources: each one after those that it refers to. */
export async function listResources(file: SwitchyardFile, settings: ResourceSettings): Promise<Resource[]> {
  const { client } = settings;
  const applications = await Promise.all(
    Object.entries(file.applications ?? {}).map(([id, entry]) => listOfApplication(id, entry, settings)),
  );
  const webhooks = { ...(await listPrunedWebhooks(file, settings)), ...file.webhooks };
  return [
    describeAccountQuotas(client, file),
    ...applications.flat(),
    ...Object.entries(webhooks).map(([id, entry]) => describeWebhook(client, id, entry)),
  ].filter((resource) => resource !== undefined);
}

const REMOVED = { delete: true } as const;

async function listOfApplication(
  application: string,
  entry: ApplicationEntry,
  settings: ResourceSettings,
): Promise<(Resource | undefined)[]> {
  const { client, terminal } = settings;
  const resource = describeApplication(client, application, entry);
  // Deleting the application deletes everything in it.
  if (entry.delete) return [resource];
  const pruned = await listPruned(application, entry, settings);
  const secrets = { ...pruned.secrets, ...entry.secrets };
  const instances = { ...pruned.instances, ...entry.instances };
  return [
    resource,
    describeRetention(client, application, entry),
    describeApplicationQuotas(client, application, entry),
    ...Object.entries(secrets).map(([id, one]) =>
      describeSecrets(client, { application, id, terminal }, one),
    ),
    ...Object.entries(instances).map(([id, one]) => describeInstance(client, { application, id }, one)),
    describeDefaults(client, application, entry),
  ];
}

type RemovedEntries = Record<string, typeof REMOVED>;

const markRemoved = (items: readonly { id: string }[]): RemovedEntries =>
  Object.fromEntries(items.map(({ id }) => [id, REMOVED]));

/**
 * Sections that the file does not have are not pruned: it does not describe them. Neither are candidates of promotions, because
 * a promotion that waits for runs would lose its test and its record.
 */
async function listPruned(
  application_id: string,
  { secrets, instances }: ApplicationEntry,
  { client, prune }: ResourceSettings,
): Promise<{ secrets: RemovedEntries; instances: RemovedEntries }> {
  const found = prune
    ? await findOrNone(async () => ({
        secrets: secrets ? await listCollections(client, application_id) : [],
        instances: instances
          ? listItems((await client.call('listInstances', { params: { application_id } })).body).filter(
              (instance) => !isCandidate(instance),
            )
          : [],
      }))
    : undefined;
  return { secrets: markRemoved(found?.secrets ?? []), instances: markRemoved(found?.instances ?? []) };
}

async function listPrunedWebhooks(
  { webhooks }: SwitchyardFile,
  { client, prune }: ResourceSettings,
): Promise<RemovedEntries> {
  return prune && webhooks ? markRemoved(listItems((await client.call('listWebhooks')).body)) : {};
}
