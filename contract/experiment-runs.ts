/** How the lists of experiments show their runs: as any list does, with what the experiment knows each by. */
import Type, { type Static } from 'typebox';
import { Run } from './run-shapes.ts';

export const ExperimentRun = Type.Object(
  {
    ...Run.properties,
    instance_id: Type.String({ description: 'The same as `application_instance_id`.' }),
    version_id: Type.String({ description: 'The same as `application_version_id`.' }),
    option_set: Type.Optional(Type.String({ description: 'Key of the option set it was given.' })),
    scenario_id: Type.Optional(Type.String({ description: 'The scenario it belongs to.' })),
    repetition: Type.Optional(
      Type.Integer({ description: 'Which of the runs with the same input and options, from 0.' }),
    ),
    input_set_id: Type.Optional(Type.String({ description: 'The input set that its input is from.' })),
  },
  { $id: 'ExperimentRun', description: 'A run of an experiment in a list.' },
);
export type ExperimentRun = Static<typeof ExperimentRun>;

export const RefusedRun = Type.Object(
  {
    instance_id: Type.String({ description: 'The instance; empty for a version alone.' }),
    version_id: Type.String({ description: 'The version; empty for the one of the instance.' }),
    input_id: Type.String({ description: 'The input, by its id in the input set.' }),
    input_set_id: Type.Optional(Type.String({ description: 'The input set that its input is from.' })),
    option_set: Type.Optional(Type.String({ description: 'Key of the option set it is given.' })),
    scenario_id: Type.Optional(Type.String({ description: 'The scenario it belongs to.' })),
    repetition: Type.Optional(
      Type.Integer({ description: 'Which of the runs with the same input and options, from 0.' }),
    ),
    error: Type.String({ description: 'Why it could not be made, in a sentence.' }),
  },
  { $id: 'RefusedRun', description: 'A run of an experiment that could not be made.' },
);
export type RefusedRun = Static<typeof RefusedRun>;
