/**
 * An instance is a version with a configuration; runs refer to it. Every application has `latest` (formerly `devint`),
 * which runs the newest executable. It cannot be created, changed or deleted.
 */

import Type, { type Static } from 'typebox';
import { API_ACCESS_APPLICATIONS_MAX, LARGE_BODY_BYTES_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { conditionFields } from '../schemas/conditional-writes.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  descriptionSchema,
  ExecutionClassName,
  Format,
  MaxDuration,
  nameOrIdSchema,
  Options,
  optionalNullable,
  Queuing,
  StringOptions,
  textSchema,
  timestampSchema,
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
import { InstanceRequirements, Requirements } from './requirements.ts';

const ApiAccess = Type.Object(
  {
    applications: Type.Array(idReferenceSchema<ApplicationId>('Id of an application.'), {
      minItems: 1,
      maxItems: API_ACCESS_APPLICATIONS_MAX,
      description: 'Applications of the account whose runs and inputs the app can create and read.',
    }),
  },
  {
    $id: 'ApiAccess',
    additionalProperties: false,
    description:
      'Access of the app to this API while it runs, even without a network. Each run gets its own token in `NEXTMV_API_KEY`, and the address of the API in `NEXTMV_ENDPOINT`. The token ends with the run. Without this field the app gets neither.',
  },
);

const writable = {
  execution_class: optionalNullable(ExecutionClassName),
  max_duration: optionalNullable(MaxDuration),
  options: optionalNullable(Options),
  secrets_collection_id: optionalNullable(
    textSchema('Secrets collection that the runs of the instance get.', { max: 64 }),
  ),
  queuing: optionalNullable(Queuing),
  format: optionalNullable(Format),
  integration_id: optionalNullable(textSchema('Accepted for compatibility and ignored.', { max: 256 })),
  network: optionalNullable(
    Type.Boolean({ description: 'true: runs of the instance can use the network. The default is false.' }),
  ),
  api_access: optionalNullable(ApiAccess),
  requirements: optionalNullable(InstanceRequirements),
};

const ConfigurationCreate = Type.Object(writable, {
  $id: 'InstanceConfigurationCreate',
  additionalProperties: false,
  description: 'Defaults for the runs of the instance.',
});
/** A configuration as callers send it: every field can be absent or null. */
export const RequestedConfiguration = Type.Object(writable, {
  $id: 'InstanceConfigurationUpdate',
  description: 'Defaults for future runs of the instance. Other fields are ignored.',
});
export type RequestedConfiguration = Static<typeof RequestedConfiguration>;

export const InstanceConfiguration = Type.Object(
  {
    execution_class: ExecutionClassName,
    max_duration: Type.Optional(MaxDuration),
    options: StringOptions,
    secrets_collection_id: Type.String({
      description: 'Secrets collection that the runs of the instance get; empty for none.',
    }),
    queuing: Type.Object(
      {
        priority: Type.Integer({ description: 'Priority in the queue, 1 first.' }),
        disabled: Type.Boolean({
          description: 'true: a run without free capacity is refused instead of queued.',
        }),
      },
      { description: 'Queuing of the runs of the instance.' },
    ),
    format: Type.Optional(Format),
    network: Type.Boolean({ description: 'true if runs of the instance can use the network.' }),
    api_access: Type.Optional(ApiAccess),
    requirements: Type.Optional(Requirements),
  },
  { $id: 'InstanceConfiguration', description: 'Defaults for the runs of the instance.' },
);
export type InstanceConfiguration = Static<typeof InstanceConfiguration>;

export const Instance = Type.Object(
  {
    id: idSchema<InstanceId>('Id of the instance.'),
    application_id: idSchema<ApplicationId>('Id of the application.'),
    version_id: Type.String({ description: 'The version of the instance; empty for `latest`.' }),
    version_deleted: Type.Optional(
      Type.Boolean({
        description:
          'true if the version was deleted: new runs are refused until the instance gets another version. Absent otherwise.',
      }),
    ),
    name: Type.String({ description: 'Name of the instance.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    configuration: InstanceConfiguration,
    locked: Type.Boolean({
      description:
        'true for `latest`, and for an instance that somebody locked: it cannot be changed or deleted.',
    }),
    locked_by: Type.Optional(
      Type.String({ description: 'Email address of the member who locked the instance; absent otherwise.' }),
    ),
    locked_at: Type.Optional(timestampSchema('Time of the lock, absent otherwise')),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'Instance', description: 'An instance.' },
);
export type Instance = Static<typeof Instance>;

const versionId = idReferenceSchema<VersionId>('The version that the instance runs.');

const InstanceCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<InstanceId>('instance')),
    name: optionalNullable(nameOrIdSchema('instance')),
    version_id: versionId,
    description: optionalNullable(descriptionSchema('instance')),
    configuration: optionalNullable(ConfigurationCreate),
  },
  { $id: 'InstanceCreate', additionalProperties: false, description: 'The instance to create.' },
);

const InstanceUpdate = Type.Object(
  {
    name: optionalNullable(nameOrIdSchema('instance')),
    version_id: optionalNullable(versionId),
    description: optionalNullable(descriptionSchema('instance')),
    configuration: optionalNullable(RequestedConfiguration),
    locked: optionalNullable(
      Type.Boolean({
        description:
          'The present state of the lock, as published clients send it back. Another value is refused: lock and unlock with `PUT …/lock`.',
      }),
    ),
    expected_version_id: optionalNullable(
      idReferenceSchema<VersionId>(
        'The version that you have read. If the instance has another one now, the response is 409, and nothing changes.',
      ),
    ),
    ...conditionFields,
  },
  {
    $id: 'InstanceUpdate',
    description:
      'The fields to change. Others may have their present values. A configuration replaces the previous one.',
  },
);

const InstanceLock = Type.Object(
  { locked: Type.Boolean({ description: 'true locks the instance; false unlocks it.' }) },
  { $id: 'InstanceLock', additionalProperties: false, description: 'The state of the lock.' },
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
    'Creates an instance of a version. The ids `latest`, `devint` and `default` are reserved. Without an id, the server generates one; without a name, the name is the id.',
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
  description: 'Lists the instances of the application, without `latest`.',
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
  description: 'Returns the instance, including `latest` and `devint`.',
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
    'Changes name, description, version and configuration. Existing runs keep the settings with which they were created. A locked instance returns 400, unless every given field has its present value.',
  right: 'write',
  params: InstanceParams,
  body: { bytesMax: LARGE_BODY_BYTES_MAX, schema: InstanceUpdate, example: { version_id: 'v2' } },
  responses: { 200: { description: 'The updated instance.', schema: Instance, example } },
  errors: [404],
});

export const setInstanceLock = defineOperation({
  id: 'setInstanceLock',
  method: 'PUT',
  path: '/v1/applications/{application_id}/instances/{instance_id}/lock',
  tag: 'instances',
  summary: 'Lock or unlock an instance',
  description:
    'Locks the instance, or unlocks it. While an instance is locked, each of these returns 400 and names the lock: an update that changes it, its deletion, and the deletion of its version or application. Runs and the default instance are unaffected. A second lock keeps the member and time of the first. An instance whose version was deleted cannot be locked.',
  right: 'write',
  params: InstanceParams,
  body: { schema: InstanceLock, example: { locked: true } },
  responses: {
    200: {
      description: 'The instance.',
      schema: Instance,
      example: {
        ...example,
        locked: true,
        locked_by: 'ada@example.com',
        locked_at: '2026-11-20T09:00:00.000Z',
      },
    },
  },
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
        'While it refers to the instance, the response is 400 and nothing changes.',
      ],
      ['A lock', 'While the instance is locked, the response is 400 and nothing changes.'],
      ['`default_experiment_instance` of the application', 'Cleared if it refers to the instance.'],
      ['Its version and secrets collection', 'Stay. You can delete them afterwards.'],
      ['Queued and running runs', 'Continue with the configuration with which they were created.'],
      ['Runs that have ended', 'Stay, and keep the id of the instance.'],
      ['Ensembles that refer to it', 'Stay. A run of one returns 400 while no instance has that id.'],
      ['Input sets from its runs', 'Unaffected, and keep the id of the instance.'],
    ],
    'You can reuse the id.',
  ),
  right: 'write',
  params: InstanceParams,
  responses: { 204: { description: 'The instance is deleted.' } },
  errors: [400, 404],
});
