/**
 * An ensemble creates several runs on one input and returns the best. Its definition lists the instances and options,
 * and the rules that select the best run. A run of the type `ensemble` stores the definition with which it was created.
 */
import Type from 'typebox';
import { REQUEST_BODY_BYTES_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { timestampSchema } from '../schemas/field-schemas.ts';
import { type EnsembleId, idSchema } from '../schemas/ids.ts';
import { itemsPage, PageQuery } from '../schemas/paging.ts';
import { Ensemble, EnsembleCreate, EnsembleRun, EnsembleUpdate } from './ensemble-schemas.ts';
import { RunParams } from './runs.ts';

const EnsembleParams = Type.Object({
  ...ApplicationParams.properties,
  ensemble_id: idSchema<EnsembleId>('Id of the ensemble.'),
});

const definition = {
  id: 'cheapest-then-fastest',
  name: 'Cheapest, then fastest',
  description: 'Two searches; of plans that cost about the same the shorter one.',
  run_groups: [
    { id: 'quick', instance_id: 'production', options: { 'solve.iterations': '200' }, repetitions: 2 },
    { id: 'thorough', instance_id: 'production', options: { 'solve.iterations': '5000' }, repetitions: 1 },
  ],
  rules: [
    {
      id: 'cost',
      statistics_path: 'result.value',
      objective: 'minimize',
      tolerance: { type: 'relative', value: 0.01 },
      index: 0,
    },
    {
      id: 'time',
      statistics_path: 'result.duration',
      objective: 'minimize',
      tolerance: { type: 'absolute', value: 0 },
      index: 1,
    },
  ],
};
const example = {
  ...definition,
  application_id: 'routing',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};

/** The child runs of the example, in order. */
const CHILDREN = [
  { id: 'run-01jd3v7mb4hw6c9a', group: 'quick', repetition: 0 },
  { id: 'run-01jd3v7mb4hw6c9b', group: 'quick', repetition: 1 },
  { id: 'run-01jd3v7mb4hw6c9c', group: 'thorough', repetition: 0 },
] as const;

export const createEnsemble = defineOperation({
  id: 'createEnsemble',
  method: 'POST',
  path: '/v1/applications/{application_id}/ensembles',
  tag: 'ensembles',
  summary: 'Create an ensemble',
  description:
    'Defines the runs to create on an input and the rules that select the best. To run it, create a run of the type `ensemble` with its id. Child runs are standard runs, never ensembles.',
  right: 'experiment',
  params: ApplicationParams,
  body: { bytesMax: REQUEST_BODY_BYTES_MAX, schema: EnsembleCreate, example: definition },
  responses: respond(201, 'The ensemble.', Ensemble, example),
});

export const listEnsembles = defineOperation({
  id: 'listEnsembles',
  method: 'GET',
  path: '/v1/applications/{application_id}/ensembles',
  tag: 'ensembles',
  summary: 'List ensembles',
  description: 'Lists the ensembles of the application.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({
    ...PageQuery,
    start: Type.Optional(timestampSchema('Only items created at or after this time')),
    end: Type.Optional(timestampSchema('Only items created before this time')),
  }),
  responses: respond(200, 'The ensembles, newest first.', itemsPage(Ensemble), { items: [example] }),
});

export const getEnsemble = defineOperation({
  id: 'getEnsemble',
  method: 'GET',
  path: '/v1/applications/{application_id}/ensembles/{ensemble_id}',
  tag: 'ensembles',
  summary: 'Get an ensemble',
  description: 'Returns the definition of the ensemble.',
  right: 'read',
  params: EnsembleParams,
  responses: respond(200, 'The ensemble.', Ensemble, example),
});

export const updateEnsemble = defineOperation({
  id: 'updateEnsemble',
  method: 'PATCH',
  path: '/v1/applications/{application_id}/ensembles/{ensemble_id}',
  tag: 'ensembles',
  summary: 'Update an ensemble',
  description:
    'Changes name and description. You can send back the whole object. Another value of a field that this request cannot change returns 400.',
  right: 'experiment',
  params: EnsembleParams,
  body: { schema: EnsembleUpdate, example: { name: 'Cheapest, then shortest' } },
  responses: respond(200, 'The updated ensemble.', Ensemble, { ...example, name: 'Cheapest, then shortest' }),
});

export const deleteEnsemble = defineOperation({
  id: 'deleteEnsemble',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/ensembles/{ensemble_id}',
  tag: 'ensembles',
  summary: 'Delete an ensemble',
  description: describeDeletion(
    'Deletes the ensemble.',
    [
      ['Its ended runs', 'Stay, and keep its id: each stores the definition.'],
      ['Its unfinished runs', 'Continue with the groups and rules with which they began.'],
    ],
    'New runs cannot refer to it, and you can reuse the id.',
  ),
  right: 'experiment',
  params: EnsembleParams,
  responses: { 204: { description: 'The ensemble is deleted.' } },
});

export const getRunEnsemble = defineOperation({
  id: 'getRunEnsemble',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/ensemble',
  tag: 'runs',
  summary: 'Get the ensemble of a run',
  description:
    'Returns the child runs of an ensemble run. Once it has ended, the response also explains which runs each rule kept and dropped. A run of another type returns 404.',
  right: 'read',
  params: RunParams,
  responses: respond(200, 'The ensemble run.', EnsembleRun, {
    id: 'run-01jd3v7k9mq2z5x8',
    account_id: 'account-01jd3v7k9m',
    application_id: 'routing',
    status_v2: 'succeeded',
    error: '',
    evaluation_type: 'rules',
    definition_id: definition.id,
    requested_runs: 3,
    child_runs: CHILDREN.map(({ id, group, repetition }) => ({
      id,
      run_group_id: group,
      repetition,
      application_instance_id: 'production',
      application_version_id: 'v1',
      status_v2: 'succeeded',
      error: '',
    })),
    rules_result: {
      best_run_id: CHILDREN[2].id,
      decisions: [
        {
          rule_id: 'cost',
          index: 0,
          statistics_path: 'result.value',
          objective: 'minimize',
          tolerance: { type: 'relative', value: 0.01 },
          best: 812.4,
          considered: CHILDREN.map(({ id }) => id),
          kept: [CHILDREN[0].id, CHILDREN[2].id],
          dropped: [
            {
              run_id: CHILDREN[1].id,
              value: 860.1,
              why: '860.1 is more than 1 % away from 812.4, the lowest.',
            },
          ],
        },
        {
          rule_id: 'time',
          index: 1,
          statistics_path: 'result.duration',
          objective: 'minimize',
          tolerance: { type: 'absolute', value: 0 },
          best: 3.5,
          considered: [CHILDREN[0].id, CHILDREN[2].id],
          kept: [CHILDREN[2].id],
          dropped: [{ run_id: CHILDREN[0].id, value: 4.2, why: '4.2 is not 3.5, the lowest.' }],
        },
      ],
      left_out: [],
    },
  }),
});
