/** Finds an experiment by its id. The API has a path for each type, and ids of different types may be equal. */
import type { Client } from '@switchyard/contract/client.ts';
import {
  EXPERIMENT_KINDS,
  EXPERIMENT_TYPES,
  type ExperimentType,
  hasFact,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  type ExperimentAddress,
  type ExperimentState,
  readState,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import { findOrNone } from '../errors/find-or-none.ts';
import type { Session } from '../session/session.ts';

/** A test that evaluates the runs of another experiment shares its id; the test has the decision, so it comes first. */
const SEARCH_ORDER = EXPERIMENT_KINDS.toSorted(
  (one, other) => Number(hasFact(one, 'ownsRuns')) - Number(hasFact(other, 'ownsRuns')),
);

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
