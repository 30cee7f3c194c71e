/** An application is the home of one decision model: its executables, versions, instances and runs. */

import Type, { type Static } from 'typebox';
import { ApplicationParams } from './application-params.ts';
import { consequences } from './consequences.ts';
import { Executable, executableExample } from './executables.ts';
import { type ApplicationId, newId, someId } from './ids.ts';
import { operation } from './operation.ts';
import { PageQuery, pageOrArray } from './paging.ts';
import { description, idOrName, ignored, maybe, nullable, oneOf, text, timestamp } from './shapes.ts';

const defaultInstance = text(
  'Instance that runs without an instance id go to; `latest` runs the newest executable.',
  { max: 64 },
);

export const Application = Type.Object(
  {
    id: someId<ApplicationId>('Id of the application.'),
    name: Type.String({ description: 'Name of the application.' }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    type: oneOf(['custom', 'subscription', 'pipeline'], 'Kind of application.'),
    default_instance: Type.String({
      description: 'Instance that runs without an instance id go to; empty for `latest`.',
    }),
    default_experiment_instance: Type.String({
      description: 'Instance that experiments compare against when none is named.',
    }),
    subscription_id: Type.String({ description: 'Always empty here.' }),
    active_executable: nullable(Executable),
    locked: Type.Boolean({ description: 'Always false here.' }),
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
  },
  { $id: 'Application', description: 'An application.' },
);
export type Application = Static<typeof Application>;

export const ApplicationCreate = Type.Object(
  {
    id: maybe(newId<ApplicationId>('application')),
    name: idOrName('application'),
    description: maybe(description('application')),
    default_instance: maybe(defaultInstance),
    default_experiment_instance: maybe(defaultInstance),
    is_pipeline: maybe(Type.Boolean({ description: 'Marks an application that only orchestrates others.' })),
    type: ignored(),
  },
  { $id: 'ApplicationCreate', additionalProperties: false, description: 'The application to make.' },
);

export const ApplicationUpdate = Type.Object(
  {
    name: maybe(idOrName('application')),
    description: maybe(description('application')),
    default_instance: maybe(defaultInstance),
    default_experiment_instance: maybe(defaultInstance),
  },
  { $id: 'ApplicationUpdate', description: 'What can be changed; other fields are ignored.' },
);

const example = {
  id: 'routing',
  name: 'Vehicle routing',
  description: 'Plans the daily tours',
  type: 'custom',
  default_instance: 'production',
  default_experiment_instance: '',
  subscription_id: '',
  active_executable: executableExample,
  locked: false,
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};

export const createApplication = operation({
  id: 'createApplication',
  method: 'POST',
  path: '/v1/applications',
  tag: 'applications',
  summary: 'Create an application',
  description:
    'Makes an empty application. Push an executable next. Without an id one is made from the name.',
  right: 'write',
  body: { schema: ApplicationCreate, example: { id: 'routing', name: 'Vehicle routing' } },
  answers: { 201: { description: 'The application.', schema: Application, example } },
});

export const listApplications = operation({
  id: 'listApplications',
  method: 'GET',
  path: '/v1/applications',
  tag: 'applications',
  summary: 'List applications',
  description: 'Lists the applications of the account.',
  right: 'read',
  query: Type.Object(PageQuery),
  answers: {
    200: {
      description: 'The applications, newest first.',
      schema: pageOrArray(Application),
      example: [example],
    },
  },
});

export const getApplication = operation({
  id: 'getApplication',
  method: 'GET',
  path: '/v1/applications/{application_id}',
  tag: 'applications',
  summary: 'Get an application',
  description: 'Answers the application with its active executable.',
  right: 'read',
  params: ApplicationParams,
  answers: { 200: { description: 'The application.', schema: Application, example } },
  errors: [404],
});

export const updateApplication = operation({
  id: 'updateApplication',
  method: 'PUT',
  path: '/v1/applications/{application_id}',
  tag: 'applications',
  summary: 'Update an application',
  description:
    'Changes name, description and default instances. Other fields are ignored, so the whole object can be sent back.',
  right: 'write',
  params: ApplicationParams,
  body: { schema: ApplicationUpdate, example: { name: 'Vehicle routing', default_instance: 'production' } },
  answers: { 200: { description: 'The application as it is now.', schema: Application, example } },
  errors: [404],
});

export const deleteApplication = operation({
  id: 'deleteApplication',
  method: 'DELETE',
  path: '/v1/applications/{application_id}',
  tag: 'applications',
  summary: 'Delete an application',
  description: consequences(
    'Deletes the application with everything in it. It is not found from then on, and its id can be taken again at once; what belonged to it is removed in the background.',
    [
      [
        'Executables, versions, instances, secrets collections, managed inputs, input sets, ensembles',
        'Removed.',
      ],
      ['Runs that have ended', 'Removed with input, output, assets and logs.'],
      ['Runs that are queued', 'Removed; they are never started.'],
      ['Runs that are running', 'Removed; the app is stopped as by a cancel, and its result is not kept.'],
      [
        'Uploads',
        'Removed. A PUT to an upload URL, also one that is under way, is answered 404, and nothing of it is kept.',
      ],
      ['Download URLs', 'Stop working once the content is removed.'],
      ['Answers kept for an `Idempotency-Key`', 'Stay for their 24 hours.'],
    ],
    'No other application is touched.',
  ),
  right: 'write',
  params: ApplicationParams,
  answers: { 204: { description: 'It is gone.' } },
  errors: [404],
});
