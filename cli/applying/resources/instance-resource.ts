/** Instances. */
import { completeRequirements } from '@switchyard/contract/applications/requirements.ts';
import type { Client } from '@switchyard/contract/client.ts';
import { toBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../../errors/command-error.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import type { InstanceEntry } from '../file-schema.ts';
import type { Resource } from './resource.ts';

/** Returns the instance of the file. */
export function describeInstance(
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
