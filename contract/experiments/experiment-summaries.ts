/** The experiments of an application in one list, whatever their type, with their verdicts in a word. */
import Type, { type Static } from 'typebox';
import { EXPERIMENT_TYPES, EXPERIMENTS } from '../experiment-types/experiment-types.ts';
import { defineOperation, respond } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import { type ExperimentId, idSchema } from '../schemas/ids.ts';
import { itemsPage, PageQuery } from '../schemas/paging.ts';
import { EXPERIMENT_STATUSES } from '../states.ts';
import { experimentProgressFields } from './experiment-fields.ts';
import { VERDICT_WORDS } from './presentation/rate-experiment.ts';

export const ExperimentVerdict = Type.Object(
  {
    word: stringEnum(VERDICT_WORDS, 'The verdict.'),
    candidate: Type.Optional(
      Type.String({ description: 'Name of the best candidate, where one of several is best.' }),
    ),
  },
  { $id: 'ExperimentVerdict', description: 'The verdict of an experiment in a word.' },
);
export type ExperimentVerdict = Static<typeof ExperimentVerdict>;

const { number_of_requested_runs: _, ...runCounts } = experimentProgressFields;

const ExperimentSummary = Type.Object(
  {
    type: stringEnum(EXPERIMENT_TYPES, 'Type of the experiment.'),
    id: idSchema<ExperimentId>('Id of the experiment.'),
    name: Type.String({ description: 'Name of the experiment.' }),
    status: stringEnum(EXPERIMENT_STATUSES, 'Status of the experiment.'),
    created_at: timestampSchema('Creation time'),
    ...runCounts,
    verdict: Type.Optional(ExperimentVerdict),
  },
  { $id: 'ExperimentSummary', description: 'An experiment of any type with its progress and verdict.' },
);
export type ExperimentSummary = Static<typeof ExperimentSummary>;

export const listExperimentSummaries = defineOperation({
  id: 'listExperimentSummaries',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiment-summaries',
  tag: 'applications',
  summary: 'List the experiments of all types',
  description:
    'Lists the experiments of an application, newest first, with their progress. An experiment with results has a verdict. Runs of an acceptance test are those of its batch, which is not listed itself if it has the same id, unless you ask for its type.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({
    ...PageQuery,
    type: Type.Optional(stringEnum(EXPERIMENT_TYPES, 'Only experiments of this type.')),
    status: Type.Optional(stringEnum(EXPERIMENT_STATUSES, 'Only experiments with this status.')),
  }),
  responses: respond(200, 'The experiments, newest first.', itemsPage(ExperimentSummary), {
    items: [
      {
        type: EXPERIMENTS[EXPERIMENT_TYPES[0]].kind,
        id: 'faster-planner',
        name: 'Faster planner',
        status: 'completed',
        created_at: '2026-11-20T08:00:00.000Z',
        number_of_runs: 48,
        number_of_completed_runs: 48,
        number_of_failed_runs: 0,
        verdict: { word: 'better' },
      },
    ],
  }),
  errors: [404],
});
