/** The runs of a batch experiment: a requested run, seeds, and the order of submission. */
import Type, { type Static } from 'typebox';
import {
  BATCH_RUNS_MAX,
  OPTION_NAME_CHARS_MAX,
  OPTION_VALUE_CHARS_MAX,
  SCENARIO_ID_CHARS_MAX,
} from '../limits.ts';
import { EXACT_INTEGERS, optionalNullable, stringEnum, textSchema } from '../schemas/field-schemas.ts';
import {
  type EnsembleId,
  type InputSetId,
  type InstanceId,
  idReferenceSchema,
  type VersionId,
} from '../schemas/ids.ts';

export const BatchRunCreate = Type.Object(
  {
    instance_id: optionalNullable(
      idReferenceSchema<InstanceId>(
        'The instance to run; required without a `version_id` and an `ensemble_id`.',
      ),
    ),
    version_id: optionalNullable(
      idReferenceSchema<VersionId>(
        'The version to run instead of the version of the instance, or without any instance configuration.',
      ),
    ),
    ensemble_id: optionalNullable(
      idReferenceSchema<EnsembleId>(
        'The ensemble to run in place of an instance or a version. Its result is that of its best run, and the experiment keeps its groups and rules of now. The option set goes to all of its child runs; the options of a group take precedence. Beyond the specification.',
      ),
    ),
    option_set: optionalNullable(idReferenceSchema<string>('Key of the option set. The default is none.')),
    input_id: optionalNullable(
      idReferenceSchema<string>(
        'An input of the input set, by its id in the set. The default is every input.',
      ),
    ),
    scenario_id: optionalNullable(
      textSchema('Scenario of the run: letters, digits, periods, underscores and hyphens.', {
        max: SCENARIO_ID_CHARS_MAX,
      }),
    ),
    repetition: optionalNullable(
      Type.Integer({
        minimum: 0,
        maximum: BATCH_RUNS_MAX - 1,
        description:
          'Number of the run among those with the same input and options, from 0. The default is 0.',
      }),
    ),
    input_set_id: optionalNullable(
      idReferenceSchema<InputSetId>("Input set of the run's input, instead of that of the batch."),
    ),
    run_number: optionalNullable(
      textSchema(
        'Distinguishes otherwise identical runs. They become repetitions: each gets the next free number, in the order given. Not stored.',
        { max: 64 },
      ),
    ),
  },
  { $id: 'BatchRunCreate', additionalProperties: false, description: 'A requested run.' },
);
export type BatchRunCreate = Static<typeof BatchRunCreate>;

/** Fields of the request for the seeds of the runs. */
export const seedFields = {
  seeds: optionalNullable(
    Type.Array(
      Type.Union(
        [
          Type.Integer(EXACT_INTEGERS),
          textSchema('A seed as a text.', { min: 1, max: OPTION_VALUE_CHARS_MAX }),
        ],
        {
          description: 'A seed, passed to the app as a text.',
        },
      ),
      {
        minItems: 1,
        maxItems: BATCH_RUNS_MAX,
        description:
          'With `instance_ids`, instead of `repetitions`: seeds without duplicates. Every instance runs each input with each option set once for each seed, with `seed_option` set to it. The seeds are repetitions of one input, so they are averaged and never compared with each other. Beyond the specification.',
      },
    ),
  ),
  seed_option: optionalNullable(
    textSchema(
      'With `seeds`: the option of the app that gets the seed. The default is `seed`. An app that declares options must declare it. Beyond the specification.',
      { min: 1, max: OPTION_NAME_CHARS_MAX },
    ),
  ),
};

/** Fields of responses for the seeds and the order of the runs. */
export const batchPlanResponse = {
  seeds: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Its seeds, in the order of the repetitions; absent without seeds, and where the option is hidden from the role.',
    }),
  ),
  seed_option: Type.Optional(Type.String({ description: 'The option that gets the seed; absent without.' })),
  run_order: Type.Object(
    {
      design: stringEnum(
        ['randomized-blocks'],
        'randomized-blocks: the sides of an input run next to each other, and all in random order.',
      ),
      seed: Type.String({ description: 'Seed of the random order.' }),
    },
    { description: 'Order in which the runs were submitted.' },
  ),
};
