/** The decision of an experiment with a comparison: to release the candidate or not. */
import Type, { type Static } from 'typebox';
import { stringEnum } from '../../schemas/field-schemas.ts';

const Cause = Type.Object(
  {
    candidate: Type.Optional(Type.String({ description: 'The candidate, as the reason names it.' })),
    indicator: Type.Optional(Type.String({ description: 'The indicator.' })),
    role: Type.Optional(stringEnum(['primary', 'guardrail', 'other'], 'Its role.')),
    verdict: Type.Optional(Type.String({ description: 'Its verdict; absent where no run reported it.' })),
    change: Type.Optional(
      Type.String({ description: 'A change of the question since an earlier experiment.' }),
    ),
    rule: Type.Optional(Type.Integer({ description: 'Position of the rule of an acceptance test, from 0.' })),
  },
  { $id: 'DecisionCause', description: 'An indicator or a rule that the decision depends on.' },
);
export type DecisionCause = Static<typeof Cause>;

export const Decision = Type.Object(
  {
    release: stringEnum(
      ['yes', 'no', 'undecided'],
      'yes: a primary indicator is better, the others are better or equivalent, and no guardrail is worse; or all rules are met. no: a primary indicator or a guardrail is worse, or a rule is not met. undecided: otherwise; of a rule, without data for it, or where only its bound fails.',
    ),
    reason: Type.String({ description: 'The decision and its reason, in sentences.' }),
    because_of: Type.Array(Cause, { description: 'The indicators or rules that decide or hold it back.' }),
  },
  {
    $id: 'ExperimentDecision',
    description:
      'Decision to release the candidate. With several candidates, yes means that one or more can be released. Beyond the specification.',
  },
);
export type Decision = Static<typeof Decision>;

/** The decision in a response that may have no comparison. */
export const decisionField = Type.Optional(Decision);
