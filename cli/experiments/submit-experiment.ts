/** Plans or creates an experiment for a command, and starts or watches it. */
import type { Client } from '@switchyard/contract/client.ts';
import {
  EXPERIMENT_TYPES,
  type ExperimentType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { listIdsToTry, suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { CommandError } from '../errors/command-error.ts';
import type { Session } from '../session/session.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { buildFields, createExperiment, type RequestFields, startExperiment } from './create-experiment.ts';
import { findConsolePage, findState, readTarget } from './find-experiment.ts';
import { printSize } from './planning/print-plan.ts';
import { printResult } from './print-result.ts';
import { waitForEnd } from './wait-for-end.ts';

/** The steps that follow the creation, or replace it. */
interface NextSteps {
  plan?: true | undefined;
  watch?: true | undefined;
  start?: true | undefined;
}

interface Submission {
  type: ExperimentType;
  fields: RequestFields & { file?: string | undefined };
  next: NextSteps;
}

/** Creates the experiment and prints its id and the address of its page; with `plan` it prints its size alone. */
export async function submitExperiment(session: Session, { type, fields, next }: Submission): Promise<void> {
  const { output } = session;
  const { client, application } = readTarget(session);
  const requested = buildFields(session, type, fields);
  if (next.plan) return printSize(session, { application, type }, requested);
  const id = requested.id ?? (await findFreeId(client, application, String(requested.name)));
  const request = { ...requested, id };
  const created = await createExperiment(client, { application, type }, request);
  const address = { application, type, id: created.id };
  if (next.start) await startExperiment(client, address);
  for (const warning of 'warnings' in created ? (created.warnings ?? []) : [])
    output.warn(cleanText(warning));
  const page = findConsolePage(session.findConnection().url, address);
  if (next.watch) {
    output.note(`Created ${type} ${created.id}: ${page}`);
    await waitForEnd(session, address);
    return printResult(session, address);
  }
  output.printSentence(
    created,
    `${next.start ? 'Started' : 'Created'} ${type} ${created.id}: ${page}`,
    created.id,
  );
}

/** Returns an id that resembles the name, and that no experiment of any type has. */
async function findFreeId(client: Client, application: string, name: string): Promise<string> {
  const id = suggestId(name);
  if (id === '')
    throw new CommandError(`The name ${JSON.stringify(name)} has no letters for an id. Give one with --id.`);
  const candidates = listIdsToTry(id, new Date());
  for (const candidate of candidates) {
    const address = { application, id: candidate };
    const found = await Promise.all(EXPERIMENT_TYPES.map((type) => findState(client, { ...address, type })));
    if (found.every((state) => state === undefined)) return candidate;
  }
  throw new CommandError(
    `${candidates.length} experiments of today have an id like ${id}. Give another one with --id.`,
  );
}
