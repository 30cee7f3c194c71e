/** The memory of a question: the earlier experiments that compared the same sides, and what changed since. */
import Type, { type Static } from 'typebox';
import { listTypesWith } from '../../experiment-types/experiment-types.ts';
import { stringEnum } from '../../schemas/field-schemas.ts';

/** Earlier looks beyond these are counted in `look`, and not listed. */
export const EARLIER_LOOKS_LISTED_MAX = 20;

const EarlierLook = Type.Object(
  {
    type: stringEnum(listTypesWith('hasCandidates'), 'Its type.'),
    experiment_id: Type.String({ description: 'Its id.' }),
    deleted: Type.Boolean({ description: 'true if it was deleted since.' }),
    shared_inputs: Type.Integer({ description: 'Inputs of this experiment that it had too, by content.' }),
  },
  { $id: 'EarlierLook', description: 'An earlier experiment that compared the same sides.' },
);

export const Question = Type.Object(
  {
    look: Type.Integer({
      description:
        'Number of this look at the question; 1 is the first. Each is another chance of a wrong verdict.',
    }),
    reading: Type.String({ description: 'The number in a sentence, with the inputs that are the same.' }),
    earlier: Type.Array(EarlierLook, {
      description: `The newest ${EARLIER_LOOKS_LISTED_MAX} earlier looks, oldest first.`,
    }),
    changes: Type.Array(Type.String(), {
      description:
        'Rules that differ from the first look at the same inputs, and inputs left out, in sentences. With one, the decision is never yes.',
    }),
  },
  {
    $id: 'ExperimentQuestion',
    description:
      'Earlier experiments of the application with the same executables and options on both sides. Beyond the specification.',
  },
);
export type Question = Static<typeof Question>;

/** The question of an experiment; absent before its first result. */
export const questionField = Type.Optional(Question);
