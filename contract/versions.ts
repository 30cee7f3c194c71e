/** A version is a name for one executable of an application; it never runs anything else. */

import Type, { type Static } from 'typebox';
import { ApplicationParams } from './application-params.ts';
import { consequences } from './consequences.ts';
import { Executable, executableExample } from './executables.ts';
import { type ApplicationId, newId, someId, type VersionId } from './ids.ts';
import { REQUEST_BODY_BYTES_MAX } from './limits.ts';
import { operation } from './operation.ts';
import { PageQuery, pageOrArray } from './paging.ts';
import { description, idOrName, maybe, timestamp } from './shapes.ts';

export const Version = Type.Object(
  {
    id: someId<VersionId>('Id of the version.'),
    application_id: someId<ApplicationId>('Its application.'),
    name: Type.String({ description: 'Name of the version.' }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    executable: Executable,
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
  },
  { $id: 'Version', description: 'A version.' },
);
export type Version = Static<typeof Version>;

export const VersionCreate = Type.Object(
  {
    id: maybe(newId<VersionId>('version')),
    name: maybe(idOrName('version')),
    description: maybe(description('version')),
  },
  { $id: 'VersionCreate', additionalProperties: false, description: 'The version to make.' },
);

export const VersionUpdate = Type.Object(
  { name: maybe(idOrName('version')), description: maybe(description('version')) },
  { $id: 'VersionUpdate', description: 'What can be changed; other fields are ignored.' },
);

const VersionParams = Type.Object({
  ...ApplicationParams.properties,
  version_id: someId<VersionId>('Id of the version.'),
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

export const createVersion = operation({
  id: 'createVersion',
  method: 'POST',
  path: '/v1/applications/{application_id}/versions',
  tag: 'versions',
  summary: 'Create a version',
  description:
    'Names the active executable of the application. An application without one answers 400. Without an id one is made, and without a name the version is named after its id.',
  right: 'write',
  params: ApplicationParams,
  body: { schema: VersionCreate, example: { id: 'v1', name: 'First plan' } },
  answers: { 201: { description: 'The version.', schema: Version, example } },
  errors: [404],
});

export const listVersions = operation({
  id: 'listVersions',
  method: 'GET',
  path: '/v1/applications/{application_id}/versions',
  tag: 'versions',
  summary: 'List versions',
  description: 'Lists the versions of the application.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object(PageQuery),
  answers: {
    200: { description: 'The versions, newest first.', schema: pageOrArray(Version), example: [example] },
  },
  errors: [404],
});

export const getVersion = operation({
  id: 'getVersion',
  method: 'GET',
  path: '/v1/applications/{application_id}/versions/{version_id}',
  tag: 'versions',
  summary: 'Get a version',
  description: 'Answers the version with its executable.',
  right: 'read',
  params: VersionParams,
  answers: { 200: { description: 'The version.', schema: Version, example } },
  errors: [404],
});

export const updateVersion = operation({
  id: 'updateVersion',
  method: 'PUT',
  path: '/v1/applications/{application_id}/versions/{version_id}',
  tag: 'versions',
  summary: 'Update a version',
  description: 'Changes name and description; the executable of a version never changes.',
  right: 'write',
  params: VersionParams,
  body: { bytesMax: REQUEST_BODY_BYTES_MAX, schema: VersionUpdate, example: { name: 'First good plan' } },
  answers: { 200: { description: 'The version as it is now.', schema: Version, example } },
  errors: [404],
});

export const deleteVersion = operation({
  id: 'deleteVersion',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/versions/{version_id}',
  tag: 'versions',
  summary: 'Delete a version',
  description: consequences(
    'Deletes the version.',
    [
      [
        'Instances that run it',
        'Stay, with `version_deleted`; runs of them are refused with a 400 that names the version, until they get another.',
      ],
      [
        'An instance that runs it and is the default instance, takes part in a started experiment, or has runs that are queued or running',
        'While there is one, the response is 400, names it and changes nothing.',
      ],
      ['A started experiment that names it', 'The same.'],
      ['Runs that have ended', 'Stay, and go on naming the version.'],
      [
        'The executable',
        'Stays while it is active, or another version or a run that has not ended uses it; its archive is removed an hour after that.',
      ],
    ],
    'The id can be taken again; instances that name it then run the new version.',
  ),
  right: 'write',
  params: VersionParams,
  answers: { 204: { description: 'It is gone.' } },
  errors: [400, 404],
});
