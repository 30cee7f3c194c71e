/**
 * What the experiments of every kind share: how they are described, their status, and how many runs they have. A batch, a
 * scenario test and an acceptance test run at once on an input set; shadow and switchback tests act on live runs between a
 * start and a stop.
 */
import Type from 'typebox';
import { DESCRIPTION_CHARS_MAX, EXPERIMENT_DESCRIPTION_CHARS_MIN } from '../limits.ts';
import {
  description,
  nameOrId,
  optionalNullable,
  stringEnum,
  text,
  timestamp,
} from '../schemas/field-schemas.ts';
import { type ApplicationId, type ExperimentId, idSchema, newIdSchema } from '../schemas/ids.ts';
import { EXPERIMENT_STATUSES } from '../states.ts';

/** Id, name and description of a new experiment. */
export function experimentCreateFields(noun: string) {
  return {
    id: newIdSchema<ExperimentId>(noun),
    name: nameOrId(noun),
    description: optionalNullable(
      text(
        `Description of the ${noun}; when given, ${EXPERIMENT_DESCRIPTION_CHARS_MIN} to ${DESCRIPTION_CHARS_MAX} characters.`,
        { min: EXPERIMENT_DESCRIPTION_CHARS_MIN, max: DESCRIPTION_CHARS_MAX },
      ),
    ),
  };
}

/** What can be changed of one. */
export function experimentUpdateFields(noun: string) {
  return { name: optionalNullable(nameOrId(noun)), description: optionalNullable(description(noun)) };
}

/** What is shown of one. */
export function experimentFields(noun: string) {
  return {
    id: idSchema<ExperimentId>(`Id of the ${noun}.`),
    app_id: idSchema<ApplicationId>('Its application.'),
    name: Type.String({ description: `Name of the ${noun}.` }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    status: stringEnum(EXPERIMENT_STATUSES, `Status of the ${noun}.`),
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
  };
}

/** How far it is. */
export const experimentProgressFields = {
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
