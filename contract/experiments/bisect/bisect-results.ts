/** The state of the search of a bisect experiment, and its verdict at the end. */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../../schemas/field-schemas.ts';

const Effect = Type.Number({
  description:
    'How much worse the version is than the good one: a share for a relative difference, else in the unit of the indicator. Negative for a better version.',
});

const Change = Type.Object({
  effect: Effect,
  interval: Type.Object(
    { low: Type.Number({ description: 'Lower end.' }), high: Type.Number({ description: 'Upper end.' }) },
    { description: "Welch's interval of 95 %. The rounds end when they decide, so it holds roughly." },
  ),
});

const BisectStep = Type.Object(
  {
    version_id: Type.String({ description: 'The tested version.' }),
    decision: nullable(
      stringEnum(
        ['worse', 'not_worse', 'skipped'],
        'worse: than the good version. not_worse: by `difference`, and better than the bad version if that is worse by less. skipped: the version cannot be compared; `skipped_versions` says why. Null while undecided.',
      ),
    ),
    number_of_rounds: Type.Integer({
      description: 'Rounds that counted. In a round each of two or three versions runs every input once.',
    }),
    number_of_lost_rounds: Type.Integer({
      description: 'Rounds in which one version failed on more inputs than the other.',
    }),
    effect: nullable(Effect),
    interval: nullable(
      Type.Object(
        { low: Type.Number({ description: 'Lower end.' }), high: Type.Number({ description: 'Upper end.' }) },
        { description: 'Confidence sequence of the effect at 95 %. Null before ten rounds.' },
      ),
    ),
    e_value: Type.Number({
      description: 'Evidence for the decision; it decides from the number of tests / (1 - confidence) on.',
    }),
  },
  { $id: 'BisectStep', description: 'The comparison of one version with the good one.' },
);

export const BisectExperimentResult = Type.Object(
  {
    verdict: stringEnum(
      ['running', 'found', 'narrowed', 'not_distinguishable', 'stopped', 'failed'],
      'found: `first_bad_version_id` made it worse. narrowed: it is one of `possible_version_ids`, because the runs are used up or the others cannot be compared. not_distinguishable: the bad version is not shown to be worse. stopped: a caller stopped the search. failed: runs could not be created or compared.',
    ),
    reason: Type.String({ description: 'The verdict in a sentence.' }),
    last_good_version_id: Type.String({
      description: 'The last version that is not worse, as far as known.',
    }),
    first_bad_version_id: nullable(
      Type.String({ description: 'The first version that is worse, as far as known; null for none.' }),
    ),
    possible_version_ids: Type.Array(Type.String(), {
      description:
        'Versions one of which made it worse, in the order of their creation. Empty before the bad version is found to be worse.',
    }),
    skipped_versions: Type.Array(
      Type.Object(
        {
          version_id: Type.String({ description: 'A version that cannot be compared.' }),
          reason: Type.String({ description: 'Why, in a sentence.' }),
        },
        { description: 'A skipped version.' },
      ),
      {
        description:
          'Versions between the good and the bad one that cannot be compared: their runs could not be created, all failed, or reported no number for the indicator.',
      },
    ),
    probability: nullable(
      Type.Number({ description: 'Probability of `first_bad_version_id`, by `posterior`; null for none.' }),
    ),
    posterior: Type.Array(
      Type.Object(
        {
          version_id: Type.String({ description: 'A version.' }),
          probability: Type.Number({ description: 'Probability that it made the indicator worse.' }),
        },
        { description: 'The probability of one version.' },
      ),
      {
        description:
          'Probabilities after the steps so far. Empty before the bad version is found to be worse.',
      },
    ),
    steps: Type.Array(BisectStep, { description: 'The comparisons, in the order of the search.' }),
    change: nullable(
      Type.Object(Change.properties, {
        description:
          'How much worse the first bad version is than the last good one. It can be smaller than `difference`; `reason` says so.',
      }),
    ),
    later_change: nullable(
      Type.Object(Change.properties, {
        description:
          'How much worse the bad version is than the first bad one, where that is at least half of `difference`; null otherwise.',
      }),
    ),
    runs_needed: nullable(
      Type.Integer({
        description:
          'About how many more runs the search needs, from the noise of the last step. Null when no more runs help.',
      }),
    ),
  },
  { $id: 'BisectExperimentResult', description: 'The state of the search.' },
);
export type BisectExperimentResult = Static<typeof BisectExperimentResult>;
