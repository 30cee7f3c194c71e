/** Plans or creates an experiment for a command, and starts or watches it. */

import type { Session } from '../session/session.ts';
import { cleanText } from '../terminal/clean-text.ts';
import {
  buildFields,
  type CommonOptions,
  type CreatedType,
  createExperiment,
  type RequestFields,
  startExperiment,
} from './create-experiment.ts';
import { findConsolePage, readTarget } from './find-experiment.ts';
import { printSize } from './planning/print-plan.ts';
import { printResult } from './print-result.ts';
import { waitForEnd } from './wait-for-end.ts';

/** The steps that follow the creation, or replace it. */
export interface NextSteps {
  plan?: true | undefined;
  watch?: true | undefined;
  start?: true | undefined;
}

interface Submission {
  type: CreatedType;
  fields: CommonOptions & RequestFields;
  next: NextSteps;
}

/** Creates the experiment and prints its id and the address of its page; with `plan` it prints its size alone. */
export async function submitExperiment(session: Session, { type, fields, next }: Submission): Promise<void> {
  const { output } = session;
  const { client, application } = readTarget(session);
  const request = buildFields(session, type, fields);
  if (next.plan) return printSize(session, { application, type }, request);
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
  output.print({
    json: created,
    text: () => `${next.start ? 'Started' : 'Created'} ${type} ${created.id}: ${page}\n`,
    quiet: () => created.id,
  });
}
