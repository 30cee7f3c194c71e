/** Creates experiments of every type. The server validates the body, so that a file may have every field of the API. */
import type { CallRequest, Client } from '@switchyard/contract/client.ts';
import type { OperationId, Operations } from '@switchyard/contract/operations.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { CommandError } from '../errors/command-error.ts';
import type { Session } from '../session/session.ts';
import type { ExperimentAddress } from './find-experiment.ts';
import { readObject } from './read-spec.ts';

/** The types that `experiments create` makes; `bisect` has its own command. */
export type CreatedType = 'batch' | 'scenario' | 'acceptance' | 'shadow' | 'switchback' | 'bisect';

/** The fields of a request, as the API has them. */
export type RequestFields = Record<string, unknown>;

/** The options that every type has. */
export interface CommonOptions {
  id?: string | undefined;
  name?: string | undefined;
  description?: string | undefined;
  file?: string | undefined;
}

/** Returns the body: the fields of the file, then those of the options. Throws CommandError without an id and a name. */
export function buildFields(
  session: Session,
  type: CreatedType,
  { file, id, name, description, ...fields }: CommonOptions & RequestFields,
): RequestFields {
  const base = file === undefined ? {} : readObject(session.terminal, file);
  const chosen: RequestFields = removeUndefined({ id, name, description, ...fields });
  const merged: RequestFields = { ...base, ...chosen };
  if (type === 'scenario') merged.type = 'scenario';
  const label = merged.name ?? merged.id;
  if (typeof label !== 'string')
    throw new CommandError('The experiment has no name. Give --name or --id, or a file with one.');
  return { ...merged, name: label, id: merged.id ?? suggestId(label) };
}

/** Returns the value without undefined fields, also in nested objects; an object that only had such fields is left out. */
function removeUndefined(fields: RequestFields): RequestFields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const present = isRecord(value) ? removeUndefined(value) : value;
      const isEmptied = isRecord(value) && isRecord(present) && isEmpty(present) && !isEmpty(value);
      return present === undefined || isEmptied ? [] : [[name, present]];
    }),
  );
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** The body of the requests of an operation. */
type RequestBody<Id extends OperationId> =
  CallRequest<Operations[Id]> extends { body: infer Body } ? Body : never;

/**
 * Returns the fields as the body of a request. The server validates them and names a wrong one; a copy of its rules here
 * would be older than the server.
 */
export function toBody<Id extends OperationId>(_operation: Id, fields: RequestFields): RequestBody<Id> {
  const body: RequestBody<Id> = JSON.parse(JSON.stringify(fields));
  return body;
}

/** Creates the experiment, and returns the response of the API. A live test is a draft. */
export async function createExperiment(
  client: Client,
  { application, type }: Pick<ExperimentAddress, 'application' | 'type'>,
  fields: RequestFields,
) {
  const params = { application_id: application };
  switch (type) {
    case 'batch':
    case 'scenario':
      return (
        await client.call('createBatchExperiment', { params, body: toBody('createBatchExperiment', fields) })
      ).body;
    case 'acceptance':
      return (
        await client.call('createAcceptanceTest', { params, body: toBody('createAcceptanceTest', fields) })
      ).body;
    case 'shadow':
      return (await client.call('createShadowTest', { params, body: toBody('createShadowTest', fields) }))
        .body;
    case 'switchback':
      return (
        await client.call('createSwitchbackTest', { params, body: toBody('createSwitchbackTest', fields) })
      ).body;
    case 'bisect':
      return (
        await client.call('createBisectExperiment', {
          params,
          body: toBody('createBisectExperiment', fields),
        })
      ).body;
  }
}

/** Starts a draft of a live test. Throws CommandError for the other types, which start when they are created. */
export async function startExperiment(client: Client, address: ExperimentAddress): Promise<void> {
  const params = { application_id: address.application };
  if (address.type === 'shadow')
    await client.call('startShadowTest', { params: { ...params, shadow_id: address.id } });
  else if (address.type === 'switchback')
    await client.call('startSwitchbackTest', { params: { ...params, switchback_id: address.id } });
  else
    throw new CommandError(
      `${address.id} is of the type ${address.type}, which starts when it is created. Only shadow and switchback tests have a start.`,
    );
}

/** Stops a live test or the search of a bisect experiment. `cancel`: the results do not count. */
export async function stopExperiment(
  client: Client,
  address: ExperimentAddress,
  intent: 'complete' | 'cancel',
): Promise<void> {
  const params = { application_id: address.application };
  const body = { intent };
  if (address.type === 'shadow')
    await client.call('stopShadowTest', { params: { ...params, shadow_id: address.id }, body });
  else if (address.type === 'switchback')
    await client.call('stopSwitchbackTest', { params: { ...params, switchback_id: address.id }, body });
  else if (address.type === 'bisect')
    await client.call('stopBisectExperiment', { params: { ...params, bisect_id: address.id } });
  else
    throw new CommandError(
      `${address.id} is of the type ${address.type}, which cannot be stopped. Delete it with: switchyard experiments delete ${address.id}`,
    );
}

/** Deletes the experiment with the runs that the API deletes with it. */
export async function deleteExperiment(client: Client, address: ExperimentAddress): Promise<void> {
  const params = { application_id: address.application };
  const { id } = address;
  switch (address.type) {
    case 'batch':
    case 'scenario':
      await client.call('deleteBatchExperiment', { params: { ...params, batch_id: id } });
      return;
    case 'acceptance':
      await client.call('deleteAcceptanceTest', { params: { ...params, acceptance_id: id } });
      return;
    case 'shadow':
      await client.call('deleteShadowTest', { params: { ...params, shadow_id: id } });
      return;
    case 'switchback':
      await client.call('deleteSwitchbackTest', { params: { ...params, switchback_id: id } });
      return;
    case 'bisect':
      await client.call('deleteBisectExperiment', { params: { ...params, bisect_id: id } });
  }
}
