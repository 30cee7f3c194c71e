/** Results by feature of the input: the effect within groups of inputs. */
import Type, { type Static } from 'typebox';
import { INTERACTION_INPUTS_MAX } from '../limits.ts';
import { nullable, stringEnum } from '../schemas/field-schemas.ts';

const numberSchema = (description: string) => Type.Number({ description });
const integerSchema = (description: string) => Type.Integer({ description });

const InteractionGroup = Type.Object(
  {
    label: Type.String({
      description: 'The category, or the range of the numbers; `other` for rare categories.',
    }),
    low: nullable(numberSchema('Smallest number in the group; null for categories.')),
    high: nullable(numberSchema('Largest number in the group; null for categories.')),
    inputs: integerSchema('Inputs in which both sides ended.'),
    input_ids: Type.Array(Type.String(), {
      description: `Ids of its inputs, of originals in a shadow test. All groups have at most ${INTERACTION_INPUTS_MAX} together.`,
    }),
    wins: integerSchema('Those in which the candidate is better, or only the control failed.'),
    ties: integerSchema('Those in which both sides are equal.'),
    losses: integerSchema('Those in which the control is better, or only the candidate failed.'),
    effect: nullable(
      Type.Object(
        {
          value: numberSchema('The geometric mean ratio, or the mean difference for the absolute measure.'),
          interval: nullable(
            Type.Object(
              { low: numberSchema('Lower bound.'), high: numberSchema('Upper bound.') },
              { description: 'A 95 % interval for this group alone; null for fewer than five inputs.' },
            ),
          ),
        },
        { description: 'The effect over the inputs that both sides solved; null without any.' },
      ),
    ),
  },
  { description: 'A group of inputs by the feature.' },
);

export const Interaction = Type.Object(
  {
    feature: Type.String({ description: 'The feature.' }),
    type: stringEnum(
      ['number', 'category'],
      'number: groups of about equal size, in order; category: one group each.',
    ),
    groups: Type.Array(InteractionGroup, { description: 'The groups, with the effect in each.' }),
    missing: integerSchema('Inputs without the feature, which are left out.'),
  },
  {
    $id: 'Interaction',
    description:
      'The effect by one feature of the inputs: a hint for the next experiment, on which no verdict depends.',
  },
);
export type Interaction = Static<typeof Interaction>;
