/** An application groups the executables, versions, instances and runs of one decision model. */

import Type, { type Static } from 'typebox';
import { ID_CHARS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { conditionFields } from '../schemas/conditional-writes.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  descriptionSchema,
  ignoredFieldSchema,
  nameOrIdSchema,
  nullable,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import { type ApplicationId, idReferenceSchema, idSchema, newIdSchema, type RunId } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { Executable, executableExample } from './executables.ts';
import { ApplicationIndicators, ApplicationObjective } from './indicators.ts';

const defaultInstance = textSchema(
  'Instance of runs without an instance id; `latest` runs the newest executable.',
  { max: 64 },
);

/** Fields that say how people judge the runs. A push whose `app.yaml` has them sets the first two as well. */
const judgingFields = {
  objective: optionalNullable(ApplicationObjective),
  indicators: optionalNullable(ApplicationIndicators),
  baseline_run_id: optionalNullable(
    idReferenceSchema<RunId>('Run with which others are compared; null removes it.'),
  ),
};

export const Application = Type.Object(
  {
    id: idSchema<ApplicationId>('Id of the application.'),
    name: Type.String({ description: 'Name of the application.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    type: stringEnum(['custom', 'subscription', 'pipeline'], 'Kind of application.'),
    default_instance: Type.String({
      description: 'Instance of runs without an instance id; empty for `latest`.',
    }),
    default_experiment_instance: Type.String({
      description: 'Instance that experiments compare against by default.',
    }),
    subscription_id: Type.String({
      description: 'Id of the subscription of an application of the type `subscription`; else empty.',
    }),
    objective: nullable(ApplicationObjective),
    indicators: ApplicationIndicators,
    baseline_run_id: nullable(
      Type.String({
        description:
          'Run with which others are compared. It stays when the run is deleted. Null: the last succeeded run of the default instance.',
      }),
    ),
    active_executable: nullable(Executable),
    html_assets_trusted: Type.Boolean({
      description:
        'True when an administrator lets the console run HTML assets of the application without a click. Always false for a subscription.',
    }),
    html_assets_trusted_by: nullable(
      Type.String({
        description: 'Address of the administrator who trusts the HTML assets; null without trust.',
      }),
    ),
    html_assets_trusted_at: nullable(
      timestampSchema('Time of the trust in the HTML assets; null without trust'),
    ),
    locked: Type.Boolean({ description: 'Always false.' }),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'Application', description: 'An application.' },
);
export type Application = Static<typeof Application>;

const ApplicationCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<ApplicationId>('application')),
    name: nameOrIdSchema('application'),
    description: optionalNullable(descriptionSchema('application')),
    default_instance: optionalNullable(defaultInstance),
    default_experiment_instance: optionalNullable(defaultInstance),
    is_pipeline: optionalNullable(
      Type.Boolean({ description: 'Marks an application that only orchestrates others.' }),
    ),
    objective: judgingFields.objective,
    indicators: judgingFields.indicators,
    type: ignoredFieldSchema(),
  },
  { $id: 'ApplicationCreate', additionalProperties: false, description: 'The application to create.' },
);

const ApplicationUpdate = Type.Object(
  {
    name: optionalNullable(nameOrIdSchema('application')),
    description: optionalNullable(descriptionSchema('application')),
    default_instance: optionalNullable(defaultInstance),
    default_experiment_instance: optionalNullable(defaultInstance),
    ...judgingFields,
    locked: optionalNullable(
      Type.Boolean({ description: 'false, as published clients send it; an application cannot be locked.' }),
    ),
    ...conditionFields,
  },
  { $id: 'ApplicationUpdate', description: 'The fields to change. Others may have their present values.' },
);

const example = {
  id: 'routing',
  name: 'Vehicle routing',
  description: 'Plans the daily tours',
  type: 'custom',
  default_instance: 'production',
  default_experiment_instance: '',
  subscription_id: '',
  objective: { name: 'result.value', direction: 'minimize' } as const,
  indicators: { late_stops: { label: 'Late stops', role: 'violation' } } as const,
  baseline_run_id: null,
  active_executable: executableExample,
  html_assets_trusted: false,
  html_assets_trusted_by: null,
  html_assets_trusted_at: null,
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
    'Creates an empty application. Push an executable next. Without an id, the server derives one from the name.',
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
  query: Type.Object({
    ...PageQuery,
    text: Type.Optional(
      textSchema('Only applications whose id or name contains this. Case does not matter in Latin letters.', {
        min: 1,
        max: ID_CHARS_MAX,
      }),
    ),
  }),
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
  description: 'Returns the application with its active executable.',
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
    'Changes name, description, default instances, and what the indicators mean. Null removes objective, indicators or baseline. You can send back the whole object. Another value of a field that this request cannot change returns 400.',
  right: 'write',
  params: ApplicationParams,
  body: { schema: ApplicationUpdate, example: { name: 'Vehicle routing', default_instance: 'production' } },
  responses: { 200: { description: 'The updated application.', schema: Application, example } },
  errors: [404],
});

const TRUST_PATH = '/v1/applications/{application_id}/html-assets-trust';

export const trustHtmlAssets = defineOperation({
  id: 'trustHtmlAssets',
  method: 'PUT',
  path: TRUST_PATH,
  tag: 'applications',
  summary: 'Trust the HTML assets of an application',
  description:
    'Lets the console run HTML assets of the application without a click. Such a page can send what it shows to its author. Share links still ask for the click. The trust ends when the administrator is removed or can no longer give it; repeating the request does not change whose it is. A subscription returns 400, because another account publishes its pages.',
  right: 'account',
  params: ApplicationParams,
  responses: {
    200: {
      description: 'The application.',
      schema: Application,
      example: {
        ...example,
        html_assets_trusted: true,
        html_assets_trusted_by: 'ada@example.com',
        html_assets_trusted_at: '2026-11-20T08:00:00.000Z',
      },
    },
  },
  errors: [404],
});

export const distrustHtmlAssets = defineOperation({
  id: 'distrustHtmlAssets',
  method: 'DELETE',
  path: TRUST_PATH,
  tag: 'applications',
  summary: 'Stop trusting the HTML assets of an application',
  description: 'Makes the console ask for a click again before it runs an HTML asset of the application.',
  right: 'account',
  params: ApplicationParams,
  responses: { 204: { description: 'HTML assets of the application run after a click.' } },
  errors: [404],
});

export const deleteApplication = defineOperation({
  id: 'deleteApplication',
  method: 'DELETE',
  path: '/v1/applications/{application_id}',
  tag: 'applications',
  summary: 'Delete an application',
  description: describeDeletion(
    'Deletes the application with all its resources. It is no longer found, and you can reuse its id at once. A background job removes the data.',
    [
      [
        'Executables, versions, instances, secrets collections, managed inputs, input sets, ensembles',
        'Removed.',
      ],
      ['A locked instance', 'While one exists, the response is 400, names it, and nothing changes.'],
      ['Runs that have ended', 'Removed with input, output, assets and logs.'],
      ['Queued runs', 'Removed; they never start.'],
      ['Running runs', 'Removed. The app is stopped as by a cancel, and its result is discarded.'],
      ['Uploads', 'Removed. A PUT to an upload URL, even one in progress, returns 404 and stores nothing.'],
      ['Download URLs', 'Stop working once the content is removed.'],
      ['Responses stored for an `Idempotency-Key`', 'Stay for 24 hours.'],
    ],
    'Other applications are unaffected.',
  ),
  right: 'write',
  params: ApplicationParams,
  responses: { 204: { description: 'The application is deleted.' } },
  errors: [400, 404],
});
