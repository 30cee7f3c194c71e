/** The resources of a file in the order in which they depend on each other. */
import { completeRequirements } from '@switchyard/contract/applications/requirements.ts';
import { type Client, toBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../errors/command-error.ts';
import { findOrNone } from '../errors/find-or-none.ts';
import { listItems } from '../session/list-items.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { ApplicationEntry, InstanceEntry, SwitchyardFile, WebhookEntry } from './file-schema.ts';
import { isCandidate } from './promotion/promotion-state.ts';
import {
  describeAccountQuotas,
  describeApplication,
  describeApplicationQuotas,
  describeDefaults,
  describeRetention,
} from './resources/application-resources.ts';
import type { Resource } from './resources/resource.ts';
import { describeSecrets, listCollections } from './resources/secrets-resource.ts';

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

/** Returns the instance of the file. */
function describeInstance(
  client: Client,
  { application, id }: { application: string; id: string },
  entry: InstanceEntry,
): Resource {
  const params = { application_id: application, instance_id: id };
  let expected_updated_at: string | undefined;
  return {
    kind: 'instance',
    application,
    id,
    isRemoved: entry.delete === true,
    read: () =>
      findOrNone(async () => {
        const { body } = await client.call('getInstance', { params });
        expected_updated_at = body.updated_at;
        const { name, description, version_id, configuration } = body;
        return { name, description, version_id, configuration };
      }),
    merge: (current) => {
      const version_id = entry.version_id ?? current?.version_id;
      if (version_id === undefined)
        throw new CommandError(
          `Instance ${id} of application ${application} does not exist yet, and the file has no version_id for it. Add one: a new instance needs a version.`,
        );
      return {
        name: entry.name ?? current?.name ?? id,
        description: entry.description ?? current?.description ?? '',
        version_id,
        configuration: mergeConfiguration(current?.configuration, entry.configuration),
      };
    },
    create: async (fields) => {
      await client.call('createInstance', {
        params: { application_id: application },
        body: toBody('createInstance', { id, ...fields }),
      });
    },
    update: async (fields) => {
      // Somebody may change the instance between the read and this request.
      const body = toBody('updateInstance', { ...fields, expected_updated_at });
      await client.call('updateInstance', { params, body });
    },
    remove: async () => {
      await client.call('deleteInstance', { params });
    },
  };
}

/** The fields of the file replace those of the server, in the form in which the server returns them. */
function mergeConfiguration(current: unknown, wanted: InstanceEntry['configuration']) {
  const base = typeof current === 'object' && current !== null ? current : {};
  const { options, requirements, queuing, ...others } = wanted ?? {};
  const previous = 'queuing' in base && typeof base.queuing === 'object' ? base.queuing : {};
  return {
    ...base,
    ...others,
    ...(queuing && { queuing: { ...previous, ...queuing } }),
    ...(requirements && { requirements: completeRequirements(requirements) }),
    // Values of options are texts on the server.
    ...(options && {
      options: Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)])),
    }),
  };
}

/** Returns the webhook of the file. */
function describeWebhook(client: Client, id: string, entry: WebhookEntry): Resource {
  const params = { webhook_id: id };
  const { delete: isRemoved, ...wanted } = entry;
  let expected_updated_at: string | undefined;
  return {
    kind: 'webhook',
    id,
    isRemoved: isRemoved === true,
    read: () =>
      findOrNone(async () => {
        const { body } = await client.call('getWebhook', { params });
        expected_updated_at = body.updated_at;
        return {
          endpoint_url: body.endpoint_url,
          event_types: body.event_types.toSorted(),
          description: body.description,
        };
      }),
    merge: (current) => ({
      ...(current ?? { description: '' }),
      ...wanted,
      ...(wanted.event_types && { event_types: wanted.event_types.toSorted() }),
    }),
    create: async (fields) => {
      await client.call('createWebhook', { body: toBody('createWebhook', { id, ...fields }) });
    },
    update: async (fields) => {
      const body = toBody('updateWebhook', { ...fields, expected_updated_at });
      await client.call('updateWebhook', { params, body });
    },
    remove: async () => {
      await client.call('deleteWebhook', { params });
    },
  };
}
