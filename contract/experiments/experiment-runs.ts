/** How the lists of experiments show their runs: as any list does, with what the experiment knows each by. */
import Type, { type Static } from 'typebox';
import { Run } from '../runs/run-schemas.ts';
import { nullable } from '../schemas/field-schemas.ts';

/** What identifies a run within its experiment; always present, null where there is none. */
const place = {
  option_set: nullable(Type.String({ description: 'Key of its option set; null for none.' })),
  scenario_id: nullable(Type.String({ description: 'Its scenario; null for none.' })),
  repetition: nullable(
    Type.Integer({
      description:
        'Number of the run among those with the same input and options, from 0; null for a run that joined the experiment, and in shadow and switchback tests.',
    }),
  ),
  input_set_id: nullable(Type.String({ description: 'The input set of its input; null for none.' })),
};

export const ExperimentRun = Type.Object(
  {
    ...Run.properties,
    instance_id: Type.String({ description: 'The same as `application_instance_id`.' }),
    version_id: Type.String({ description: 'The same as `application_version_id`.' }),
    ...place,
  },
  { $id: 'ExperimentRun', description: 'A run of an experiment in a list.' },
);
export type ExperimentRun = Static<typeof ExperimentRun>;

export const Failure = Type.Object(
  {
    instance_id: Type.String({ description: 'The instance of the runs; empty for a version alone.' }),
    version_id: Type.String({ description: 'The version of the runs; empty for the latest executable.' }),
    error: Type.String({ description: 'The error.' }),
    run_id: nullable(
      Type.String({
        description: 'The first run that failed with it; null for runs that could not be submitted.',
      }),
    ),
    number_of_runs: Type.Integer({ description: 'How many runs failed with it.' }),
  },
  { $id: 'Failure', description: 'An error of runs of an experiment.' },
);

export const RefusedRun = Type.Object(
  {
    instance_id: Type.String({ description: 'The instance; empty for a version alone.' }),
    version_id: Type.String({ description: 'The version; empty for the one of the instance.' }),
    input_id: Type.String({ description: 'The input, by its id in the input set.' }),
    ...place,
    error: Type.String({ description: 'Why it could not be made, in a sentence.' }),
  },
  { $id: 'RefusedRun', description: 'A run of an experiment that could not be made.' },
);
export type RefusedRun = Static<typeof RefusedRun>;
