/** The version and the instance that a push creates from the new executable. */
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { Client, ResponseBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import { retry } from '../../errors/retry.ts';

type Instance = ResponseBody<'getInstance'>;

/** The ids that the caller wants. */
export interface Release {
  version?: string;
  instance?: string;
}

/** The id that the API reserves for the default instance of an application. */
const DEFAULT_INSTANCE = 'default';

/** Throws for a version that exists, and for an instance that cannot change: before anything is packed. */
export async function checkRelease(
  client: Client,
  application_id: string,
  { version, instance }: Release,
): Promise<void> {
  if (instance !== undefined && (isLatest(instance) || instance === DEFAULT_INSTANCE))
    throw new CommandError(
      `--instance is "${instance}", which is reserved. Every push changes the instance latest; give the id of another one.`,
    );
  if (version !== undefined && (await findVersion(client, application_id, version)))
    throw new CommandError(
      `Version ${version} of application ${application_id} exists, and a version never changes. Give another id. Nothing was pushed.`,
      EXIT_CODES.refused,
    );
  const found = instance === undefined ? undefined : await findInstance(client, application_id, instance);
  if (found?.locked)
    throw new CommandError(
      `Instance ${found.id} is locked${found.locked_by ? ` by ${found.locked_by}` : ''}. Unlock it or give another one. Nothing was pushed.`,
      EXIT_CODES.refused,
    );
}

/** Creates the version, and makes the instance run it. An instance without a given version gets one with a generated id. */
export async function createRelease(
  client: Client,
  application_id: string,
  { version, instance }: Release,
  signal: AbortSignal,
): Promise<{ version_id?: string; instance_id?: string }> {
  if (version === undefined && instance === undefined) return {};
  const params = { application_id };
  const created = await client.call('createVersion', {
    params,
    body: version === undefined ? {} : { id: version },
  });
  const version_id = created.body.id;
  if (instance === undefined) return { version_id };
  // Reads the instance again after a lost connection: its version is the new one when the response was lost.
  await retry(
    async () => {
      const found = await findInstance(client, application_id, instance);
      if (!found) await client.call('createInstance', { params, body: { id: instance, version_id } });
      else if (found.version_id !== version_id)
        await client.call('updateInstance', {
          params: { ...params, instance_id: instance },
          body: { version_id, expected_version_id: found.version_id },
        });
    },
    { signal },
  );
  return { version_id, instance_id: instance };
}

async function findVersion(client: Client, application_id: string, version_id: string): Promise<boolean> {
  const params = { application_id, version_id };
  return (await findOrNone(() => client.call('getVersion', { params }))) !== undefined;
}

async function findInstance(
  client: Client,
  application_id: string,
  instance_id: string,
): Promise<Instance | undefined> {
  const params = { application_id, instance_id };
  return (await findOrNone(() => client.call('getInstance', { params })))?.body;
}
