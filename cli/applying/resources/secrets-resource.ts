/** Secrets collections. Their values come from the environment or from files, and are never printed. */
import { resolve } from 'node:path';
import { ApiError, type Client, toBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../../errors/command-error.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import { readPages } from '../../session/list-items.ts';
import { readTextFile } from '../../session/read-text-file.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { SecretsEntry } from '../file-schema.ts';
import type { Fields, Resource } from './resource.ts';

interface CollectionTarget {
  application: string;
  id: string;
  terminal: Pick<Terminal, 'cwd' | 'env'>;
}

type SecretReference = NonNullable<SecretsEntry['secrets']>[number];

/** Returns the collection of the file. Values are compared where the token may read them; otherwise they stay. */
export function describeSecrets(client: Client, target: CollectionTarget, entry: SecretsEntry): Resource {
  const { application, id } = target;
  const params = { application_id: application, collection_id: id };
  let expected_updated_at: string | undefined;
  const readWanted = () =>
    entry.secrets &&
    Object.fromEntries(entry.secrets.map((one) => [formatKey(one), readValue(target, one)] as const));
  return {
    kind: 'secrets collection',
    application,
    id,
    isRemoved: entry.delete === true,
    isSecret: (field) => field.startsWith('secrets.'),
    findSource: (field) => {
      const source = entry.secrets?.find((one) => field === `secrets.${formatKey(one)}`)?.from;
      if (source?.file !== undefined) return `the file ${resolve(target.terminal.cwd, source.file)}`;
      return source?.env === undefined ? undefined : `the variable ${source.env}`;
    },
    read: () =>
      findOrNone(async () => {
        const { fields, updated_at } = await readCollection(client, application, id);
        expected_updated_at = updated_at;
        return fields;
      }),
    merge: (current) => {
      const isReadable = current === undefined || 'secrets' in current;
      const secrets = isReadable ? (readWanted() ?? current?.secrets ?? {}) : undefined;
      return {
        name: entry.name ?? current?.name ?? id,
        description: entry.description ?? current?.description ?? '',
        ...(secrets !== undefined && { secrets }),
      };
    },
    create: async (fields) => {
      await client.call('createSecretsCollection', {
        params: { application_id: application },
        body: toBody('createSecretsCollection', { id, ...listSecrets(fields) }),
      });
    },
    update: async (fields) => {
      await client.call('updateSecretsCollection', {
        params,
        body: toBody('updateSecretsCollection', { ...listSecrets(fields), expected_updated_at }),
      });
    },
    remove: async () => {
      await client.call('deleteSecretsCollection', { params });
    },
  };
}

/** The key of a secret in the compared fields: its type and its location. */
const formatKey = ({ type, location }: { type: string; location: string }): string => `${type} ${location}`;

async function readCollection(
  client: Client,
  application_id: string,
  collection_id: string,
): Promise<{ fields: Fields; updated_at: string }> {
  try {
    const { body } = await client.call('getSecretsCollection', { params: { application_id, collection_id } });
    const secrets = Object.fromEntries(body.secrets.map((one) => [formatKey(one), one.value]));
    return {
      fields: { name: body.name, description: body.description, secrets },
      updated_at: body.updated_at,
    };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    const found = (await listCollections(client, application_id)).find(({ id }) => id === collection_id);
    if (!found) throw new ApiError('getSecretsCollection', 404, '');
    return { fields: { name: found.name, description: found.description }, updated_at: found.updated_at };
  }
}

/** Returns all collections of the application, without their secrets. */
export async function listCollections(client: Client, application_id: string) {
  const params = { application_id };
  const { items } = await readPages(
    Number.POSITIVE_INFINITY,
    async (query) => (await client.call('listSecretsCollections', { params, query })).body,
  );
  return items;
}

function readValue({ terminal }: CollectionTarget, { location, from }: SecretReference): string {
  if (from.env !== undefined) {
    const value = terminal.env[from.env];
    // A pipeline sets an unknown variable to an empty text, which must not replace a secret.
    if (value) return value;
    throw new CommandError(
      `The secret ${location} comes from the variable ${from.env}, which is not set or empty.`,
    );
  }
  return readTextFile(
    terminal,
    from.file ?? '',
    `The secret ${location} comes from the file ${from.file}, which cannot be read.`,
  );
}

/** Returns the fields in the form of the API. */
function listSecrets({ secrets, ...fields }: Fields): Record<string, unknown> {
  if (typeof secrets !== 'object' || secrets === null) return fields;
  return {
    ...fields,
    secrets: Object.entries(secrets).map(([key, value]) => {
      const end = key.indexOf(' ');
      return { type: key.slice(0, end), location: key.slice(end + 1), value };
    }),
  };
}
