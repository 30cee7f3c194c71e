/** Distributions of indicators by groups of runs, which experiments return. The server documents the formulas. */
import Type, { type Static } from 'typebox';
import { mapSchema, stringEnum } from '../schemas/field-schemas.ts';

const numberSchema = (description: string) => Type.Number({ description });
const integerSchema = (description: string) => Type.Integer({ description });

const PERCENTS = ['01', '05', '10', '25', '50', '75', '90', '95', '99'] as const;

/** Both spellings: the published clients read the lower case, the specification names the upper case. */
const Percentiles = Type.Object(
  Object.fromEntries(
    PERCENTS.flatMap((percent) => [
      [`p${percent}`, numberSchema(`${Number(percent)} % of the values are at most this.`)],
      [`P${percent}`, numberSchema(`The same as p${percent}.`)],
    ]),
  ) as Record<`${'p' | 'P'}${(typeof PERCENTS)[number]}`, ReturnType<typeof numberSchema>>,
  { $id: 'Percentiles', description: 'Percentiles, interpolated linearly between values (type 7).' },
);

const Distribution = Type.Object(
  {
    min: numberSchema('The smallest value.'),
    max: numberSchema('The largest value.'),
    count: integerSchema('Number of runs with a number.'),
    mean: numberSchema('Mean of the values.'),
    std: numberSchema('Standard deviation (n - 1); 0 for one value.'),
    shifted_geometric_mean: Type.Object(
      {
        value: numberSchema('exp(mean of ln(x + shift)) - shift.'),
        shift: numberSchema('10, or more when a value is at most -10.'),
      },
      { description: 'The shifted geometric mean and its shift.' },
    ),
    percentiles: Percentiles,
  },
  { $id: 'Distribution', description: 'Distribution of one indicator.' },
);

export const RunCounts = Type.Object(
  {
    total: integerSchema('All runs.'),
    succeeded: integerSchema('Succeeded runs; only they contribute numbers.'),
    failed: integerSchema('Failed runs, including those that could not be created.'),
    canceled: integerSchema('Canceled runs.'),
    pending: integerSchema('Runs that have not ended.'),
    without_statistics: integerSchema('Succeeded runs without any indicator.'),
  },
  { $id: 'RunCounts', description: 'Number of runs by status.' },
);

const GROUP_KEYS = ['inputID', 'instanceID', 'versionID', 'ensembleID', 'optionSetID', 'scenarioID'] as const;

export const GroupedSummary = Type.Object(
  {
    group_keys: Type.Array(stringEnum(GROUP_KEYS, 'A grouping key.'), {
      description: 'The grouping keys.',
    }),
    group_values: Type.Array(Type.String(), { description: 'The value of each key; empty without a value.' }),
    indicator_keys: Type.Array(Type.String(), {
      description: 'Indicators with at least one number in the group.',
    }),
    indicator_distributions: mapSchema(Distribution, 'The distribution of each indicator.'),
    runs: RunCounts,
    indicator_counts: mapSchema(
      Type.Object(
        {
          usable: integerSchema('Runs whose value is a number.'),
          unusable: integerSchema('Runs with another value: "nan", "+inf", "-inf", a text or a flag.'),
          missing: integerSchema('Runs without a value.'),
        },
        { description: 'Counts for one indicator.' },
      ),
      'Counts of the succeeded runs, by indicator.',
    ),
  },
  { $id: 'GroupedSummary', description: 'The distributions of one group of runs.' },
);
export type GroupedSummary = Static<typeof GroupedSummary>;
