/**
 * What the experiments of every kind share: how they are described, their status, and how many runs they have. A batch, a
 * scenario test and an acceptance test run at once on an input set; shadow and switchback tests act on live runs between a
 * start and a stop.
 */
import Type from 'typebox';
import { type ApplicationId, type ExperimentId, newId, someId } from './ids.ts';
import { DESCRIPTION_CHARS_MAX, EXPERIMENT_DESCRIPTION_CHARS_MIN } from './limits.ts';
import { description, idOrName, maybe, oneOf, text, timestamp } from './shapes.ts';
import { EXPERIMENT_STATUSES } from './states.ts';

/** Id, name and description of a new experiment. */
export function newExperiment(noun: string) {
  return {
    id: newId<ExperimentId>(noun),
    name: idOrName(noun),
    description: maybe(
      text(
        `Description of the ${noun}; when given, ${EXPERIMENT_DESCRIPTION_CHARS_MIN} to ${DESCRIPTION_CHARS_MAX} characters.`,
        { min: EXPERIMENT_DESCRIPTION_CHARS_MIN, max: DESCRIPTION_CHARS_MAX },
      ),
    ),
  };
}

/** What can be changed of one. */
export function experimentUpdate(noun: string) {
  return { name: maybe(idOrName(noun)), description: maybe(description(noun)) };
}

/** What is shown of one. */
export function shownExperiment(noun: string) {
  return {
    id: someId<ExperimentId>(`Id of the ${noun}.`),
    app_id: someId<ApplicationId>('Its application.'),
    name: Type.String({ description: `Name of the ${noun}.` }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    status: oneOf(EXPERIMENT_STATUSES, `Status of the ${noun}.`),
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
  };
}

/** How far it is. */
export const experimentProgress = {
  number_of_requested_runs: Type.Integer({ description: 'Runs it wants.' }),
  number_of_runs: Type.Integer({
    description:
      'Its runs: those that exist and those that are still to be submitted. Runs that could not be submitted and deleted runs are not counted.',
  }),
  number_of_completed_runs: Type.Integer({
    description: 'Runs that have ended, whether they succeeded, failed or were canceled.',
  }),
  number_of_failed_runs: Type.Integer({
    description: 'Runs that failed and runs that could not be submitted.',
  }),
};
