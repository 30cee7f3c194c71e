/** Creates experiments of every type. The server validates the body, so that a file may have every field of the API. */
import { type CallRequest, type Client, toBody } from '@switchyard/contract/client.ts';
import {
  EXPERIMENTS,
  type ExperimentType,
  hasFact,
  listTypesWith,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  type ExperimentAddress,
  endEarly,
  nameOperation,
  startDraft,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { CommandError } from '../errors/command-error.ts';
import type { Session } from '../session/session.ts';
import { readObject } from './read-spec.ts';

/** The fields of a request, as the API has them. */
export type RequestFields = Record<string, unknown>;

/** Returns the body: the fields of the file, then those of options. Throws CommandError without an id and a name. */
export function buildFields(
  session: Session,
  type: ExperimentType,
  { file, ...fields }: RequestFields & { file?: string | undefined },
): RequestFields {
  const base = file === undefined ? {} : readObject(session.terminal, file);
  const merged: RequestFields = { ...base, ...fields };
  // Two types have one operation, so the request says which one it is.
  if (EXPERIMENTS[type].kind !== type) merged.type = type;
  const label = merged.name ?? merged.id;
  if (typeof label !== 'string')
    throw new CommandError('The experiment has no name. Give --name or --id, or a file with one.');
  return { ...merged, name: label };
}

/** Creates the experiment, and returns the response of the API. A live test is a draft. */
export async function createExperiment(
  client: Client,
  { application, type }: Pick<ExperimentAddress, 'application' | 'type'>,
  fields: RequestFields,
) {
  const operation = nameOperation('create', type);
  const request = { params: { application_id: application }, body: toBody(operation, fields) };
  return (await client.call(operation, request as CallRequest<Operations[typeof operation]>)).body;
}

/** Starts a draft of a live test. Throws CommandError for the other types, which start when they are created. */
export async function startExperiment(client: Client, { type, ...rest }: ExperimentAddress): Promise<void> {
  if (!hasFact(type, 'isLive'))
    throw new CommandError(
      `${rest.id} is of the type ${type}, which starts when it is created. Only ${listTypesWith('isLive').join(' and ')} tests have a start.`,
    );
  await startDraft(client, { type, ...rest });
}

/** Stops a live test or a search. `cancel`: the results do not count. */
export async function stopExperiment(
  client: Client,
  { type, ...rest }: ExperimentAddress,
  intent: 'complete' | 'cancel',
): Promise<void> {
  if (!hasFact(type, 'canStop'))
    throw new CommandError(
      `${rest.id} is of the type ${type}, which cannot be stopped. Delete it with: switchyard experiments delete ${rest.id}`,
    );
  await endEarly(client, { type, ...rest }, intent);
}
