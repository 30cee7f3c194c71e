/** The ensembles among the sides of a batch experiment: the best of fewer runs. */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../schemas/field-schemas.ts';
import { groupFields } from './experiment-results.ts';

const numberSchema = (description: string) => Type.Number({ description });
const integerSchema = (description: string) => Type.Integer({ description });

export const EnsembleArm = Type.Object(
  {
    ...groupFields,
    statistics_path: Type.String({ description: 'The indicator of its first rule.' }),
    objective: stringEnum(['minimize', 'maximize'], 'Direction of the best value.'),
    inputs: integerSchema('Inputs on which the ensemble has ended.'),
    best_of_k: Type.Array(
      Type.Object(
        {
          k: integerSchema('Number of child runs.'),
          expected: numberSchema(
            'Mean over the inputs of the expected best value of k child runs, where any succeeds.',
          ),
          ratio_to_one: nullable(
            numberSchema(
              'Geometric mean of that value divided by the value of one child run; null if any is not above 0.',
            ),
          ),
          solved_share: numberSchema('Mean share of the choices of k child runs in which any succeeds.'),
        },
        { description: 'The best of k child runs.' },
      ),
      {
        description:
          'For each k up to the smallest number of child runs that ended on an input. Inputs on which all failed count only for `solved_share`.',
      },
    ),
  },
  { $id: 'EnsembleArm', description: 'An ensemble over all inputs. It has no verdict.' },
);
export type EnsembleArm = Static<typeof EnsembleArm>;
