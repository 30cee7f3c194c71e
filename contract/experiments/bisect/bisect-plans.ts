/** The size of a bisect experiment before it exists. */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ApplicationParams } from '../../schemas/application-params.ts';
import { BisectExperimentCreate } from './bisect-experiments.ts';

const BisectPlan = Type.Object(
  {
    version_ids: Type.Array(Type.String(), {
      description:
        'The versions of the search in the order of their creation, from the good one to the bad one.',
    }),
    input_ids: Type.Array(Type.String(), { description: 'Ids of the inputs.' }),
    number_of_tests: Type.Integer({ description: 'Most versions that the search tests.' }),
    runs_per_round: Type.Integer({
      description:
        'Runs of the first round, which the search queues before it reads any: each input with the bad version and with the good one. A later round has half as many more where it needs the bad version too.',
    }),
    minimum_runs: Type.Integer({
      description:
        'Runs of the search if each of these tests decides after the fewest rounds. `maximum_runs` cannot be smaller. Noise makes it more, and a search that needs fewer tests ends earlier.',
    }),
    maximum_runs: Type.Integer({ description: 'Most runs of the search.' }),
  },
  { $id: 'BisectPlan', description: 'The size of a bisect experiment.' },
);
export type BisectPlan = Static<typeof BisectPlan>;

export const planBisectExperiment = defineOperation({
  id: 'planBisectExperiment',
  method: 'POST',
  path: '/v1/applications/{application_id}/experiments/bisect/plan',
  tag: 'bisect-experiments',
  summary: 'Plan a bisect experiment',
  description:
    'Returns how many runs the search would queue in a round, and how many in all, for the body that would create it. Refuses the same bodies as the creation. Nothing is created.',
  right: 'read',
  params: ApplicationParams,
  body: {
    schema: BisectExperimentCreate,
    example: {
      name: 'Dearer since spring',
      input_ids: ['monday'],
      indicator: 'result.value',
      good_version_id: 'v1',
      bad_version_id: 'v4',
      difference: { type: 'relative', value: 0.02 },
      maximum_runs: 1000,
    },
  },
  responses: {
    200: {
      description: 'The size of the search.',
      schema: BisectPlan,
      example: {
        version_ids: ['v1', 'v2', 'v3', 'v4'],
        input_ids: ['monday'],
        number_of_tests: 3,
        runs_per_round: 2,
        minimum_runs: 48,
        maximum_runs: 1000,
      },
    },
  },
  errors: [404],
});
