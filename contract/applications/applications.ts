/** An application is the home of one decision model: its executables, versions, instances and runs. */

import Type, { type Static } from 'typebox';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  description,
  ignoredField,
  nameOrId,
  nullable,
  optionalNullable,
  stringEnum,
  text,
  timestamp,
} from '../schemas/field-schemas.ts';
import { type ApplicationId, idSchema, newIdSchema } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { Executable, executableExample } from './executables.ts';

const defaultInstance = text(
  'Instance that runs without an instance id go to; `latest` runs the newest executable.',
  { max: 64 },
);

export const Application = Type.Object(
  {
    id: idSchema<ApplicationId>('Id of the application.'),
    name: Type.String({ description: 'Name of the application.' }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    type: stringEnum(['custom', 'subscription', 'pipeline'], 'Kind of application.'),
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

const ApplicationCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<ApplicationId>('application')),
    name: nameOrId('application'),
    description: optionalNullable(description('application')),
    default_instance: optionalNullable(defaultInstance),
    default_experiment_instance: optionalNullable(defaultInstance),
    is_pipeline: optionalNullable(
      Type.Boolean({ description: 'Marks an application that only orchestrates others.' }),
    ),
    type: ignoredField(),
  },
  { $id: 'ApplicationCreate', additionalProperties: false, description: 'The application to make.' },
);

const ApplicationUpdate = Type.Object(
  {
    name: optionalNullable(nameOrId('application')),
    description: optionalNullable(description('application')),
    default_instance: optionalNullable(defaultInstance),
    default_experiment_instance: optionalNullable(defaultInstance),
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

export const createApplication = defineOperation({
  id: 'createApplication',
  method: 'POST',
  path: '/v1/applications',
  tag: 'applications',
  summary: 'Create an application',
  description:
    'Makes an empty application. Push an executable next. Without an id one is made from the name.',
  right: 'write',
  body: { schema: ApplicationCreate, example: { id: 'routing', name: 'Vehicle routing' } },
  responses: { 201: { description: 'The application.', schema: Application, example } },
});

export const listApplications = defineOperation({
  id: 'listApplications',
  method: 'GET',
  path: '/v1/applications',
  tag: 'applications',
  summary: 'List applications',
  description: 'Lists the applications of the account.',
  right: 'read',
  query: Type.Object(PageQuery),
  responses: {
    200: {
      description: 'The applications, newest first.',
      schema: pageOrArray(Application),
      example: [example],
    },
  },
});

export const getApplication = defineOperation({
  id: 'getApplication',
  method: 'GET',
  path: '/v1/applications/{application_id}',
  tag: 'applications',
  summary: 'Get an application',
  description: 'Answers the application with its active executable.',
  right: 'read',
  params: ApplicationParams,
  responses: { 200: { description: 'The application.', schema: Application, example } },
  errors: [404],
});

export const updateApplication = defineOperation({
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
  responses: { 200: { description: 'The application as it is now.', schema: Application, example } },
  errors: [404],
});

export const deleteApplication = defineOperation({
  id: 'deleteApplication',
  method: 'DELETE',
  path: '/v1/applications/{application_id}',
  tag: 'applications',
  summary: 'Delete an application',
  description: describeDeletion(
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
  responses: { 204: { description: 'It is gone.' } },
  errors: [404],
});
