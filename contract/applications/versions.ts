/** A version is an immutable name for one executable of an application. */

import Type, { type Static } from 'typebox';
import { REQUEST_BODY_BYTES_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { conditionFields } from '../schemas/conditional-writes.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  descriptionSchema,
  nameOrIdSchema,
  optionalNullable,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import { type ApplicationId, idSchema, newIdSchema, type VersionId } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { Executable, executableExample } from './executables.ts';

export const Version = Type.Object(
  {
    id: idSchema<VersionId>('Id of the version.'),
    application_id: idSchema<ApplicationId>('Id of the application.'),
    name: Type.String({ description: 'Name of the version.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    executable: Executable,
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'Version', description: 'A version.' },
);
export type Version = Static<typeof Version>;

const VersionCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<VersionId>('version')),
    name: optionalNullable(nameOrIdSchema('version')),
    description: optionalNullable(descriptionSchema('version')),
  },
  { $id: 'VersionCreate', additionalProperties: false, description: 'The version to create.' },
);

const VersionUpdate = Type.Object(
  {
    name: optionalNullable(nameOrIdSchema('version')),
    description: optionalNullable(descriptionSchema('version')),
    ...conditionFields,
  },
  { $id: 'VersionUpdate', description: 'The fields to change. Others may have their present values.' },
);

const VersionParams = Type.Object({
  ...ApplicationParams.properties,
  version_id: idSchema<VersionId>('Id of the version.'),
});

const example = {
  id: 'v1',
  application_id: 'routing',
  name: 'First plan',
  description: '',
  executable: executableExample,
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};

export const createVersion = defineOperation({
  id: 'createVersion',
  method: 'POST',
  path: '/v1/applications/{application_id}/versions',
  tag: 'versions',
  summary: 'Create a version',
  description:
    'Names the active executable of the application. An application without an active executable returns 400. Without an id, the server generates one; without a name, the name is the id.',
  right: 'write',
  params: ApplicationParams,
  body: { schema: VersionCreate, example: { id: 'v1', name: 'First plan' } },
  responses: { 201: { description: 'The version.', schema: Version, example } },
  errors: [404],
});

export const listVersions = defineOperation({
  id: 'listVersions',
  method: 'GET',
  path: '/v1/applications/{application_id}/versions',
  tag: 'versions',
  summary: 'List versions',
  description: 'Lists the versions of the application.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The versions, newest first.', schema: pageOrArray(Version), example: [example] },
  },
  errors: [404],
});

export const getVersion = defineOperation({
  id: 'getVersion',
  method: 'GET',
  path: '/v1/applications/{application_id}/versions/{version_id}',
  tag: 'versions',
  summary: 'Get a version',
  description: 'Returns the version with its executable.',
  right: 'read',
  params: VersionParams,
  responses: { 200: { description: 'The version.', schema: Version, example } },
  errors: [404],
});

export const updateVersion = defineOperation({
  id: 'updateVersion',
  method: 'PUT',
  path: '/v1/applications/{application_id}/versions/{version_id}',
  tag: 'versions',
  summary: 'Update a version',
  description: 'Changes name and description; the executable of a version never changes.',
  right: 'write',
  params: VersionParams,
  body: { bytesMax: REQUEST_BODY_BYTES_MAX, schema: VersionUpdate, example: { name: 'First good plan' } },
  responses: { 200: { description: 'The updated version.', schema: Version, example } },
  errors: [404],
});

export const deleteVersion = defineOperation({
  id: 'deleteVersion',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/versions/{version_id}',
  tag: 'versions',
  summary: 'Delete a version',
  description: describeDeletion(
    'Deletes the version.',
    [
      [
        'Instances that run it',
        'Stay, with `version_deleted`. Their new runs get a 400 that names the version, until the instance gets another.',
      ],
      [
        'An instance that runs it and is the default instance, takes part in a started experiment, or has queued or running runs',
        'While one exists, the response is 400, names it, and nothing changes.',
      ],
      ['A started experiment that refers to it, or a locked instance that runs it', 'The same.'],
      ['Runs that have ended', 'Stay, and keep the id of the version.'],
      [
        'The executable',
        'Stays while it is active, or another version or an unfinished run uses it. Its archive is deleted an hour later.',
      ],
    ],
    'You can reuse the id. Instances that refer to it then run the new version.',
  ),
  right: 'write',
  params: VersionParams,
  responses: { 204: { description: 'The version is deleted.' } },
  errors: [400, 404],
});
