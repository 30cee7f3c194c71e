/** The ensembles among the sides of a batch experiment: the best of fewer runs, and the contribution of each run group. */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../schemas/field-schemas.ts';
import { groupFields } from './experiment-results.ts';

const numberSchema = (description: string) => Type.Number({ description });
const integerSchema = (description: string) => Type.Integer({ description });

export const EnsembleArm = Type.Object(
  {
    ...groupFields,
    statistics_path: Type.String({ description: 'The indicator of the first rule of the ensemble.' }),
    objective: stringEnum(['minimize', 'maximize'], 'Direction of the best value: lowest or highest.'),
    inputs: integerSchema('Inputs on which the ensemble has ended, with a result or a failure.'),
    best_of_k: Type.Array(
      Type.Object(
        {
          k: integerSchema('Number of child runs.'),
          expected: numberSchema(
            'Mean over the inputs of the expected best value of k of its child runs, where any succeeds.',
          ),
          ratio_to_one: nullable(
            numberSchema(
              'Geometric mean over the inputs of that value, divided by the value of one child run; null if any is not above 0.',
            ),
          ),
          solved_share: numberSchema(
            'Share of all choices of k child runs in which any succeeds, as a mean over the inputs.',
          ),
        },
        { description: 'The best of k child runs.' },
      ),
      {
        description:
          'The best of k child runs, for each k up to the smallest number of child runs that ended on an input. Inputs on which all of them failed count for `solved_share` alone.',
      },
    ),
    groups: Type.Array(
      Type.Object(
        {
          run_group_id: Type.String({ description: 'Id of the run group.' }),
          contribution: numberSchema(
            'Mean over the inputs of its share in the improvement of the best value over the worst one (Shapley value).',
          ),
        },
        { description: 'A run group.' },
      ),
      { description: 'The run groups, in the order of the definition.' },
    ),
  },
  { $id: 'EnsembleArm', description: 'An ensemble of the experiment, over all inputs. It has no verdict.' },
);
export type EnsembleArm = Static<typeof EnsembleArm>;
