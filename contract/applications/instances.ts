/**
 * An instance is what runs are addressed to: a version with a configuration. `latest` (old name `devint`) is there in
 * every application: it runs the executable pushed last, and cannot be made, changed or deleted.
 */

import Type, { type Static } from 'typebox';
import { LARGE_BODY_BYTES_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  description,
  ExecutionClassName,
  Format,
  nameOrId,
  Options,
  optionalNullable,
  Queuing,
  StringOptions,
  text,
  timestamp,
} from '../schemas/field-schemas.ts';
import {
  type ApplicationId,
  type InstanceId,
  idReferenceSchema,
  idSchema,
  newIdSchema,
  type VersionId,
} from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';

const writable = {
  execution_class: optionalNullable(ExecutionClassName),
  options: optionalNullable(Options),
  secrets_collection_id: optionalNullable(text('Secrets that runs of the instance are given.', { max: 64 })),
  queuing: optionalNullable(Queuing),
  format: optionalNullable(Format),
  integration_id: optionalNullable(text('Accepted for existing clients and ignored.', { max: 256 })),
  network: optionalNullable(
    Type.Boolean({ description: 'Let runs of the instance reach the network; they cannot when absent.' }),
  ),
};

const ConfigurationCreate = Type.Object(writable, {
  $id: 'InstanceConfigurationCreate',
  additionalProperties: false,
  description: 'What runs of the instance get unless they say otherwise.',
});
const ConfigurationUpdate = Type.Object(writable, {
  $id: 'InstanceConfigurationUpdate',
  description: 'What runs of the instance get from now on; other fields are ignored.',
});

export const InstanceConfiguration = Type.Object(
  {
    execution_class: ExecutionClassName,
    options: StringOptions,
    secrets_collection_id: Type.String({
      description: 'Secrets that runs of the instance are given; empty for none.',
    }),
    queuing: Type.Object(
      {
        priority: Type.Integer({ description: 'Priority in the queue, 1 first.' }),
        disabled: Type.Boolean({ description: 'Refuse instead of waiting.' }),
      },
      { description: 'How runs of the instance wait for capacity.' },
    ),
    format: Type.Optional(Format),
    network: Type.Boolean({ description: 'Whether runs of the instance reach the network.' }),
  },
  { $id: 'InstanceConfiguration', description: 'What runs of the instance get unless they say otherwise.' },
);
export type InstanceConfiguration = Static<typeof InstanceConfiguration>;

export const Instance = Type.Object(
  {
    id: idSchema<InstanceId>('Id of the instance.'),
    application_id: idSchema<ApplicationId>('Its application.'),
    version_id: Type.String({ description: 'The version it runs; empty for `latest`.' }),
    version_deleted: Type.Optional(
      Type.Boolean({
        description:
          'true when its version was deleted: until it gets another, runs of it are refused. Absent otherwise.',
      }),
    ),
    name: Type.String({ description: 'Name of the instance.' }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    configuration: InstanceConfiguration,
    locked: Type.Boolean({ description: 'true for `latest`, which cannot be changed.' }),
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
  },
  { $id: 'Instance', description: 'An instance.' },
);
export type Instance = Static<typeof Instance>;

const versionId = idReferenceSchema<VersionId>('The version the instance runs.');

const InstanceCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<InstanceId>('instance')),
    name: optionalNullable(nameOrId('instance')),
    version_id: versionId,
    description: optionalNullable(description('instance')),
    configuration: optionalNullable(ConfigurationCreate),
  },
  { $id: 'InstanceCreate', additionalProperties: false, description: 'The instance to make.' },
);

const InstanceUpdate = Type.Object(
  {
    name: optionalNullable(nameOrId('instance')),
    version_id: optionalNullable(versionId),
    description: optionalNullable(description('instance')),
    configuration: optionalNullable(ConfigurationUpdate),
  },
  {
    $id: 'InstanceUpdate',
    description: 'What can be changed; other fields are ignored. A configuration replaces the one before.',
  },
);

const InstanceParams = Type.Object({
  ...ApplicationParams.properties,
  instance_id: idSchema<InstanceId>('Id of the instance.'),
});

const example = {
  id: 'production',
  application_id: 'routing',
  version_id: 'v1',
  name: 'Production',
  description: '',
  configuration: {
    execution_class: '6c9500mb870s',
    options: { duration: '10' },
    secrets_collection_id: '',
    queuing: { priority: 6, disabled: false },
    network: false,
  },
  locked: false,
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};

export const createInstance = defineOperation({
  id: 'createInstance',
  method: 'POST',
  path: '/v1/applications/{application_id}/instances',
  tag: 'instances',
  summary: 'Create an instance',
  description:
    'Makes an instance of a version. The ids `latest`, `devint` and `default` are taken. Without an id one is made, and without a name the instance is named after its id.',
  right: 'write',
  params: ApplicationParams,
  body: {
    bytesMax: LARGE_BODY_BYTES_MAX,
    schema: InstanceCreate,
    example: { id: 'production', name: 'Production', version_id: 'v1' },
  },
  responses: { 201: { description: 'The instance.', schema: Instance, example } },
  errors: [404],
});

export const listInstances = defineOperation({
  id: 'listInstances',
  method: 'GET',
  path: '/v1/applications/{application_id}/instances',
  tag: 'instances',
  summary: 'List instances',
  description: 'Lists the instances of the application. `latest` is not listed.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The instances, newest first.', schema: pageOrArray(Instance), example: [example] },
  },
  errors: [404],
});

export const getInstance = defineOperation({
  id: 'getInstance',
  method: 'GET',
  path: '/v1/applications/{application_id}/instances/{instance_id}',
  tag: 'instances',
  summary: 'Get an instance',
  description: 'Answers the instance; `latest` and `devint` can be read too.',
  right: 'read',
  params: InstanceParams,
  responses: { 200: { description: 'The instance.', schema: Instance, example } },
  errors: [404],
});

export const updateInstance = defineOperation({
  id: 'updateInstance',
  method: 'PUT',
  path: '/v1/applications/{application_id}/instances/{instance_id}',
  tag: 'instances',
  summary: 'Update an instance',
  description:
    'Changes name, description, version and configuration. Runs already made keep what they were made with.',
  right: 'write',
  params: InstanceParams,
  body: { bytesMax: LARGE_BODY_BYTES_MAX, schema: InstanceUpdate, example: { version_id: 'v2' } },
  responses: { 200: { description: 'The instance as it is now.', schema: Instance, example } },
  errors: [404],
});

export const deleteInstance = defineOperation({
  id: 'deleteInstance',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/instances/{instance_id}',
  tag: 'instances',
  summary: 'Delete an instance',
  description: describeDeletion(
    'Deletes the instance.',
    [
      [
        '`default_instance` of the application',
        'While it names the instance, the answer is 400 and changes nothing.',
      ],
      ['`default_experiment_instance` of the application', 'Made empty when it names the instance.'],
      [
        'The version and the secrets collection it names',
        'Stay; nothing keeps them from being deleted then.',
      ],
      ['Runs that are queued or running', 'Go on with the configuration they were made with.'],
      ['Runs that have ended', 'Stay, and go on naming the instance.'],
      ['Ensembles that name it', 'Stay; a run of one is a 400 while there is no instance of that id.'],
      ['Input sets made of its runs', 'Stay whole, and go on naming the instance.'],
    ],
    'The id can be taken again.',
  ),
  right: 'write',
  params: InstanceParams,
  responses: { 204: { description: 'It is gone.' } },
  errors: [400, 404],
});
