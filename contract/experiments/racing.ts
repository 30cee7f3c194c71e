/** Racing: a scenario test that stops the configurations which are shown worse than another one. */
import Type, { type Static, type TProperties } from 'typebox';
import { RACED_CONFIGURATIONS_MAX } from '../limits.ts';
import { nullable, optionalNullable, stringEnum } from '../schemas/field-schemas.ts';

const CONFIDENCE_DESCRIPTION = 'Probability with which the race keeps the best configuration.';

export const RacingCreate = Type.Object(
  {
    confidence: optionalNullable(
      Type.Number({
        minimum: 0.5,
        maximum: 0.999,
        description: `${CONFIDENCE_DESCRIPTION} The default is 0.95.`,
      }),
    ),
  },
  {
    $id: 'RacingCreate',
    additionalProperties: false,
    description: `For the type \`scenario\`: stops configurations that cannot win. A configuration is an instance, version or ensemble with an option set and a scenario. After each input, from the tenth on, the race drops every configuration whose mean change is shown worse than another one. The first is the control and always stays. Every configuration must run each input equally often, on at least 11 distinct inputs. One indicator must decide: \`primary\`, or the only one in \`objectives\`. The limit is ${RACED_CONFIGURATIONS_MAX} configurations. The default is no race. Beyond the specification.`,
  },
);
export type RacingCreate = Static<typeof RacingCreate>;

export const Racing = Type.Object(
  {
    confidence: Type.Number({ description: CONFIDENCE_DESCRIPTION }),
    indicator: Type.String({ description: 'The indicator that decides.' }),
    inputs: Type.Integer({ description: 'Distinct inputs of the whole race.' }),
    inputs_planned: Type.Integer({ description: 'Distinct inputs whose runs are planned so far.' }),
    configurations: Type.Integer({ description: 'Configurations at the start, with the control.' }),
    configurations_dropped: Type.Integer({ description: 'Configurations that the race has dropped.' }),
    runs_saved: Type.Integer({
      description: 'Requested runs that will never be created, because their configurations were dropped.',
    }),
  },
  { $id: 'Racing', description: 'The race of a scenario test; absent without one.' },
);
export type Racing = Static<typeof Racing>;

const RACE_STATUSES = ['running', 'dropped', 'finished'] as const;

/** Returns the schema of a configuration's place in the race; `group` has the fields of the configuration. */
export function racedConfigurationSchema<Group extends TProperties>(group: Group) {
  return Type.Object(
    {
      status: stringEnum(
        RACE_STATUSES,
        'running: it is still in the race; dropped: it was shown worse than another; finished: it ran every input.',
      ),
      inputs: Type.Integer({ description: 'Distinct inputs that counted for it.' }),
      dropped_after_inputs: nullable(
        Type.Integer({ description: 'Inputs after which it was dropped; null while it is not.' }),
      ),
      against: nullable(
        Type.Object(group, {
          description:
            'The configuration with the strongest evidence against it when it was dropped; null while it is not.',
        }),
      ),
      e_value: Type.Number({
        description:
          'Evidence that another configuration has a better mean, when it was dropped, or so far. It assumes that no input is lost by more than 50 %.',
      }),
      threshold: Type.Number({
        description: 'The e-value at which the race drops it: 1 / (1 - confidence).',
      }),
    },
    { description: 'Its place in the race; absent without a race. Beyond the specification.' },
  );
}
