/** Applications with their settings. */
import type { Quotas } from '@switchyard/contract/account/quotas.ts';
import { type Client, toBody } from '@switchyard/contract/client.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import type { ApplicationEntry, SwitchyardFile } from '../file-schema.ts';
import type { Fields, Resource } from './resource.ts';

/** Throws: the server has no operation for this change, so no plan contains it. */
function refuseChange(): Promise<never> {
  return Promise.reject(new Error('This resource cannot be created or deleted.'));
}

/** Returns the application itself. */
export function describeApplication(client: Client, id: string, entry: ApplicationEntry): Resource {
  const params = { application_id: id };
  const { name, description, objective, indicators } = entry;
  let expected_updated_at: string | undefined;
  return {
    kind: 'application',
    id,
    isRemoved: entry.delete === true,
    read: () =>
      findOrNone(async () => {
        const { body } = await client.call('getApplication', { params });
        expected_updated_at = body.updated_at;
        return {
          name: body.name,
          description: body.description,
          ...(objective !== undefined && { objective: body.objective }),
          ...(indicators !== undefined && { indicators: body.indicators }),
        };
      }),
    merge: (current) => ({
      name: name ?? current?.name ?? id,
      description: description ?? current?.description ?? '',
      ...(objective !== undefined && { objective }),
      ...(indicators !== undefined && { indicators: indicators ?? {} }),
    }),
    create: async (fields) => {
      await client.call('createApplication', { body: toBody('createApplication', { id, ...fields }) });
    },
    update: async (fields) => {
      const body = toBody('updateApplication', { ...fields, expected_updated_at });
      await client.call('updateApplication', { params, body });
    },
    remove: async () => {
      await client.call('deleteApplication', { params });
    },
  };
}

/** Returns the default instances, which are set after the instances exist; undefined if the file names none. */
export function describeDefaults(client: Client, id: string, entry: ApplicationEntry): Resource | undefined {
  const { default_instance, default_experiment_instance } = entry;
  if (default_instance == null && default_experiment_instance == null) return undefined;
  const params = { application_id: id };
  let expected_updated_at: string | undefined;
  const set = async (fields: Fields): Promise<void> => {
    const body = toBody('updateApplication', { ...fields, expected_updated_at });
    await client.call('updateApplication', { params, body });
  };
  return {
    kind: 'default instances',
    application: id,
    id,
    isRemoved: false,
    read: () =>
      findOrNone(async () => {
        const { body } = await client.call('getApplication', { params });
        expected_updated_at = body.updated_at;
        return {
          default_instance: body.default_instance,
          default_experiment_instance: body.default_experiment_instance,
        };
      }),
    merge: (current) => ({
      ...current,
      ...(default_instance != null && { default_instance }),
      ...(default_experiment_instance != null && { default_experiment_instance }),
    }),
    create: set,
    update: set,
    remove: refuseChange,
  };
}

/** Returns the retention policy; undefined if the file has none. */
export function describeRetention(client: Client, id: string, entry: ApplicationEntry): Resource | undefined {
  const { retention } = entry;
  if (!retention) return undefined;
  const params = { application_id: id };
  let expected_updated_at: string | null = null;
  const set = async (fields: Fields): Promise<void> => {
    const body = toBody('setRetention', { ...fields, expected_updated_at });
    await client.call('setRetention', { params, body });
  };
  return {
    kind: 'retention',
    application: id,
    id,
    isRemoved: false,
    read: () =>
      findOrNone(async () => {
        const { body } = await client.call('getRetention', { params });
        const { keep_days, keep_experiment_runs } = body;
        expected_updated_at = body.updated_at;
        return { keep_days, keep_experiment_runs };
      }),
    merge: (current) => ({ ...current, ...retention }),
    create: set,
    update: set,
    remove: refuseChange,
  };
}

/** Returns the quotas of an application; undefined if the file has none. */
export function describeApplicationQuotas(
  client: Client,
  id: string,
  { quotas }: ApplicationEntry,
): Resource | undefined {
  if (!quotas) return undefined;
  const params = { application_id: id };
  return buildQuotas(quotas, {
    id,
    read: () => client.call('getApplicationQuotas', { params }),
    set: (fields) =>
      client.call('setApplicationQuotas', { params, body: toBody('setApplicationQuotas', fields) }),
  });
}

/** Returns the quotas of the account; undefined if the file has none. */
export function describeAccountQuotas(client: Client, { quotas }: SwitchyardFile): Resource | undefined {
  if (!quotas) return undefined;
  return buildQuotas(quotas, {
    id: '',
    read: () => client.call('getQuotas'),
    set: (fields) => client.call('setQuotas', { body: toBody('setQuotas', fields) }),
  });
}

interface QuotaCalls {
  /** The application; empty for the account. */
  id: string;
  read: () => Promise<{ body: Pick<Quotas, 'concurrent_runs' | 'core_hours_per_month' | 'updated_at'> }>;
  set: (fields: Fields) => Promise<unknown>;
}

function buildQuotas(quotas: Fields, { id, read, set }: QuotaCalls): Resource {
  let expected_updated_at: string | null = null;
  const update = async (fields: Fields): Promise<void> => {
    await set({ ...fields, expected_updated_at });
  };
  return {
    kind: 'quotas',
    ...(id !== '' && { application: id }),
    id: id || 'account',
    isRemoved: false,
    read: () =>
      findOrNone(async () => {
        const { concurrent_runs, core_hours_per_month, updated_at } = (await read()).body;
        expected_updated_at = updated_at;
        return { concurrent_runs, core_hours_per_month };
      }),
    merge: (current) => ({ ...current, ...quotas }),
    create: update,
    update,
    remove: refuseChange,
  };
}
