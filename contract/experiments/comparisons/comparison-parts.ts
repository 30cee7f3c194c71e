/** Estimates, failures and dependence: parts of the comparisons that experiments return. */
import Type from 'typebox';
import { nullable, stringEnum } from '../../schemas/field-schemas.ts';

export const numberSchema = (description: string) => Type.Number({ description });
export const integerSchema = (description: string) => Type.Integer({ description });
export const nullableNumberSchema = (description: string) => nullable(numberSchema(description));

export const Interval = Type.Object(
  { low: numberSchema('Lower bound.'), high: numberSchema('Upper bound.') },
  { $id: 'Interval', description: 'A 95 % interval.' },
);

export const Estimate = Type.Object(
  {
    value: numberSchema('The estimate.'),
    interval: nullable(Interval),
  },
  { $id: 'Estimate', description: 'A number with its 95 % interval, which is null for too few inputs.' },
);

export const failureFields = {
  candidate_only: integerSchema('Inputs that only the candidate failed on.'),
  control_only: integerSchema('Inputs that only the control failed on.'),
  both: integerSchema('Inputs that both failed on.'),
  control_failed: integerSchema('Failed runs of the control.'),
  candidate_failed: integerSchema('Failed runs of the candidate.'),
  p_value: numberSchema("McNemar's exact test: p-value of equal failures."),
  excess_upper: numberSchema('95 % upper bound of the share of inputs that the candidate loses more.'),
};

export const dependenceFields = {
  serial_correlation: nullableNumberSchema(
    'Correlation of neighbouring inputs in time, with a safety margin; null without an order or a relation.',
  ),
  slow_change: nullable(
    Type.Object(
      {
        p_value: numberSchema('p-value of a slow change against a random order.'),
        deviation: numberSchema(
          'Standard deviation of the slow part of the effect: a share for the relative measure, else a difference. With a p-value of at most 0.1, a mean effect below three of them has no verdict.',
        ),
      },
      {
        description:
          'Change of the effect that lasts longer than a twentieth of the series; null for fewer than 100 inputs or without an order.',
      },
    ),
  ),
  effective_sample_size: numberSchema('Number of independent inputs of the same weight.'),
  clusterings: Type.Array(
    Type.Object(
      {
        by: Type.String({
          description:
            'Property that forms the clusters, such as `caller`; `similar content` or `like values` for `related_inputs`.',
        }),
        count: integerSchema('Number of clusters.'),
        effective: numberSchema('Number of equal clusters with the same weight.'),
        intraclass_correlation: nullableNumberSchema('Share of the variance that lies between clusters.'),
        use: stringEnum(
          ['tested', 'similar', 'different'],
          'tested: test and interval are by cluster. similar: too few to test by, without a sign of a difference. different: too few, and they may differ: no verdict.',
        ),
      },
      { description: 'A clustering of the inputs.' },
    ),
    { description: 'Clusterings with more than one cluster.' },
  ),
};

/** Inputs that look like versions of each other. */
export const RelatedInputs = Type.Object(
  {
    p: numberSchema('p-value that inputs of like control values have no more like effects than others.'),
    clusters: nullable(integerSchema('Groups that count as one input each; null without groups.')),
    action: stringEnum(
      ['none', 'grouped', 'withheld'],
      'grouped: tests and interval are by group. withheld: too few groups are left, so there is no verdict.',
    ),
  },
  {
    description: 'Inputs that look like versions of each other; null with `cluster_by`, and below 10 inputs.',
  },
);

/** Means over solved and failed inputs. */
export const WithFailures = Type.Object(
  {
    failure_value: numberSchema('The value of a failed run.'),
    control_mean: nullableNumberSchema('Mean of the control; null without an input that ended.'),
    candidate_mean: nullableNumberSchema('Mean of the candidate.'),
    mean_difference: nullable(Estimate),
    ratio: nullable(Estimate),
  },
  {
    description:
      'Means over inputs that both ended, with `failure_value` for each failed run; null without it.',
  },
);
