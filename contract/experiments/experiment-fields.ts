/**
 * Fields that experiments of every kind share: description, status and progress. A batch, a scenario test and an
 * acceptance test run at once on an input set. Shadow and switchback tests act on live runs between a start and a stop.
 */
import Type from 'typebox';
import { DESCRIPTION_CHARS_MAX, EXPERIMENT_DESCRIPTION_CHARS_MIN } from '../limits.ts';
import {
  descriptionSchema,
  nameOrIdSchema,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import { type ApplicationId, type ExperimentId, idSchema, newIdSchema } from '../schemas/ids.ts';
import { EXPERIMENT_STATUSES } from '../states.ts';

/** Returns the fields id, name and description for creating an experiment. */
export function experimentCreateFields(noun: string) {
  return {
    id: newIdSchema<ExperimentId>(noun),
    name: nameOrIdSchema(noun),
    description: optionalNullable(
      textSchema(
        `Description of the ${noun}, ${EXPERIMENT_DESCRIPTION_CHARS_MIN} to ${DESCRIPTION_CHARS_MAX} characters. The default is none.`,
        { min: EXPERIMENT_DESCRIPTION_CHARS_MIN, max: DESCRIPTION_CHARS_MAX },
      ),
    ),
  };
}

/** Returns the fields that an update can change. */
export function experimentUpdateFields(noun: string) {
  return {
    name: optionalNullable(nameOrIdSchema(noun)),
    description: optionalNullable(descriptionSchema(noun)),
  };
}

/** Returns the fields that every response with an experiment has. */
export function experimentFields(noun: string) {
  return {
    id: idSchema<ExperimentId>(`Id of the ${noun}.`),
    app_id: idSchema<ApplicationId>('Id of the application.'),
    name: Type.String({ description: `Name of the ${noun}.` }),
    description: Type.String({ description: 'Description; empty by default.' }),
    status: stringEnum(EXPERIMENT_STATUSES, `Status of the ${noun}.`),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  };
}

/** The progress of an experiment in numbers of runs. */
export const experimentProgressFields = {
  number_of_requested_runs: Type.Integer({ description: 'Number of requested runs.' }),
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
