/** Finds an experiment by its id. The API has a path for each type, and ids of different types may be equal. */
import type { Client } from '@switchyard/contract/client.ts';
import {
  EXPERIMENT_TYPES,
  type ExperimentCounts,
  type ExperimentType,
} from '@switchyard/contract/experiments/presentation/experiment-types.ts';
import type { ExperimentStatus } from '@switchyard/contract/states.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import { findOrNone } from '../errors/find-or-none.ts';
import type { Session } from '../session/session.ts';

/** The address of an experiment in the API. */
export interface ExperimentAddress {
  application: string;
  type: ExperimentType;
  id: string;
}

/** The fields of an experiment that every type has. */
export interface ExperimentState extends ExperimentCounts {
  id: string;
  name: string;
  status: ExperimentStatus;
  created_at: string;
  started_at?: string;
}

/** Reads the state of an experiment, without its results where the API allows that. Throws ApiError with 404 without one. */
export async function readState(
  client: Client,
  { application, type, id }: ExperimentAddress,
): Promise<ExperimentState> {
  const params = { application_id: application };
  switch (type) {
    case 'batch':
    case 'scenario':
      return (await client.call('getBatchExperimentMetadata', { params: { ...params, batch_id: id } })).body;
    case 'acceptance':
      return readAcceptanceState(client, application, id);
    case 'shadow':
      return (await client.call('getShadowTestMetadata', { params: { ...params, shadow_id: id } })).body;
    case 'switchback':
      return (await client.call('getSwitchbackTestMetadata', { params: { ...params, switchback_id: id } }))
        .body;
    case 'bisect':
      return (await client.call('getBisectExperimentMetadata', { params: { ...params, bisect_id: id } }))
        .body;
  }
}

/** The state of the test with the counts of its batch. */
async function readAcceptanceState(
  client: Client,
  application_id: string,
  id: string,
): Promise<ExperimentState> {
  const { body } = await client.call('getAcceptanceTest', { params: { application_id, acceptance_id: id } });
  const batch = await client.call('getBatchExperimentMetadata', {
    params: { application_id, batch_id: body.experiment_id },
  });
  const { number_of_requested_runs, number_of_runs, number_of_completed_runs, number_of_failed_runs } =
    batch.body;
  return {
    id,
    name: body.name,
    status: body.status,
    created_at: body.created_at,
    number_of_requested_runs,
    number_of_runs,
    number_of_completed_runs,
    number_of_failed_runs,
  };
}

/** An acceptance test shares its id with the batch that it evaluates; the test has the decision, so it comes first. */
const SEARCH_ORDER: readonly ExperimentType[] = ['acceptance', 'batch', 'shadow', 'switchback', 'bisect'];

/** Returns the state of an experiment, or undefined if there is none of this type. */
export function findState(client: Client, address: ExperimentAddress): Promise<ExperimentState | undefined> {
  return findOrNone(() => readState(client, address));
}

/** Returns the address of the experiment with the id. Throws CommandError when no type has one. */
export async function findExperiment(
  client: Client,
  { application, id, type }: { application: string; id: string; type?: ExperimentType | undefined },
): Promise<ExperimentAddress> {
  for (const searched of type === undefined ? SEARCH_ORDER : [type])
    if (await findState(client, { application, type: searched, id }))
      return { application, type: searched, id };
  // An unknown application has no experiment either, and its 404 is the better message.
  await client.call('getApplication', { params: { application_id: application } });
  const types = type === undefined ? EXPERIMENT_TYPES.join(', ') : type;
  throw new CommandError(
    `Application ${application} has no experiment "${id}" of the type ${types}. List them with: switchyard experiments list`,
    EXIT_CODES.notFound,
  );
}

/** Returns the address of the page of the experiment in the console of the server. */
export function findConsolePage(url: string, { application, type, id }: ExperimentAddress): string {
  return `${url}/console/apps/${encodeURIComponent(application)}/experiments/${type}/${encodeURIComponent(id)}`;
}

/** Returns the client and the application of a command. */
export function readTarget(session: Session): { client: Client; application: string } {
  return { client: session.connect(), application: session.findApplication() };
}
