/**
 * A secrets collection holds values that apps need and nobody else should see, such as licence keys. Its values are read
 * one collection at a time, by those who may read secrets; everything else shows a summary without them.
 */

import Type, { type Static } from 'typebox';
import {
  LARGE_BODY_BYTES_MAX,
  SECRET_LOCATION_CHARS_MAX,
  SECRET_VALUE_BYTES_MAX,
  SECRETS_MAX,
} from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { description, nameOrId, optionalNullable, stringEnum, timestamp } from '../schemas/field-schemas.ts';
import {
  type ApplicationId,
  idSchema,
  NO_NUL_PATTERN,
  newIdSchema,
  type SecretsCollectionId,
} from '../schemas/ids.ts';
import { itemsPage, PageQuery } from '../schemas/paging.ts';

const SECRET_TYPES = ['env', 'file'] as const;

const secretFields = {
  type: stringEnum(SECRET_TYPES, 'How the app is given it: as an environment variable or as a file.'),
  location: Type.String({
    minLength: 1,
    maxLength: SECRET_LOCATION_CHARS_MAX,
    pattern: NO_NUL_PATTERN,
    description:
      'For env the name of the variable: letters, digits and underscores, no digit first, and none that the platform sets itself. For file a path below the working directory of the app, or an absolute one below /app/ or /tmp/ where runs have a sandbox.',
  }),
  value: Type.String({
    maxLength: SECRET_VALUE_BYTES_MAX,
    format: 'password',
    description: `The value, at most ${SECRET_VALUE_BYTES_MAX} bytes in UTF-8. Lines of it with 4 characters or more show as *** in the logs of runs.`,
  }),
};

export const Secret = Type.Object(secretFields, {
  $id: 'Secret',
  description: 'One value and where the app finds it.',
});
export type Secret = Static<typeof Secret>;

const NewSecret = Type.Object(secretFields, {
  $id: 'SecretCreate',
  additionalProperties: false,
  description: 'One value and where the app finds it.',
});

const summaryFields = {
  id: idSchema<SecretsCollectionId>('Id of the collection.'),
  application_id: idSchema<ApplicationId>('Its application.'),
  name: Type.String({ description: 'Name of the collection.' }),
  description: Type.String({ description: 'Description, empty when none was given.' }),
  created_at: timestamp('When it was made'),
  updated_at: timestamp('When it was last changed'),
};

export const SecretsCollectionSummary = Type.Object(summaryFields, {
  $id: 'SecretsCollectionSummary',
  description: 'A secrets collection without its values.',
});
export type SecretsCollectionSummary = Static<typeof SecretsCollectionSummary>;

const SecretsCollection = Type.Object(
  { ...summaryFields, secrets: Type.Array(Secret, { description: 'Its secrets, in the order given.' }) },
  { $id: 'SecretsCollection', description: 'A secrets collection with its values.' },
);

const SecretsCollectionCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<SecretsCollectionId>('secrets collection')),
    name: optionalNullable(nameOrId('secrets collection')),
    description: optionalNullable(description('secrets collection')),
    secrets: Type.Array(NewSecret, {
      maxItems: SECRETS_MAX,
      description: `At most ${SECRETS_MAX} secrets, each type and location once.`,
    }),
  },
  { $id: 'SecretsCollectionCreate', additionalProperties: false, description: 'The collection to make.' },
);

const SecretsCollectionUpdate = Type.Object(
  {
    name: optionalNullable(nameOrId('secrets collection')),
    description: optionalNullable(description('secrets collection')),
    secrets: optionalNullable(
      Type.Array(Secret, {
        maxItems: SECRETS_MAX,
        description: 'Replaces the whole list; left as it is when absent.',
      }),
    ),
  },
  { $id: 'SecretsCollectionUpdate', description: 'What can be changed; other fields are ignored.' },
);

const SECRET_OPERATIONS = ['create', 'update', 'delete'] as const;

const SecretOperation = Type.Object(
  {
    op: stringEnum(SECRET_OPERATIONS, 'What to do with the secret of that type and location.'),
    type: secretFields.type,
    location: secretFields.location,
    value: optionalNullable(secretFields.value),
  },
  {
    $id: 'SecretOperation',
    additionalProperties: false,
    description: 'A change of one secret. To create and to update it needs a value.',
  },
);
export type SecretOperation = Static<typeof SecretOperation>;

const SecretsCollectionPatch = Type.Object(
  {
    name: optionalNullable(nameOrId('secrets collection')),
    description: optionalNullable(description('secrets collection')),
    operations: optionalNullable(
      Type.Array(SecretOperation, {
        maxItems: 2 * SECRETS_MAX,
        description: 'Changes of single secrets, done in this order: all of them or none.',
      }),
    ),
  },
  { $id: 'SecretsCollectionPatch', description: 'What to change; other fields are ignored.' },
);

const SecretsCollectionParams = Type.Object({
  ...ApplicationParams.properties,
  collection_id: idSchema<SecretsCollectionId>('Id of the secrets collection.'),
});

const summaryExample = {
  id: 'solver-licence',
  application_id: 'routing',
  name: 'Solver licence',
  description: '',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};
const secretsExample = [
  { type: 'env', location: 'MAPS_API_KEY', value: 'not-a-real-key' },
  { type: 'file', location: 'licence/solver.lic', value: 'not a real licence\n' },
];

export const createSecretsCollection = defineOperation({
  id: 'createSecretsCollection',
  method: 'POST',
  path: '/v1/applications/{application_id}/secrets',
  tag: 'secrets',
  summary: 'Create a secrets collection',
  description:
    'Makes a collection of secrets that instances and runs can name as their `secrets_collection_id`. The answer does not repeat them. Without an id one is made, and without a name the collection is named after its id.',
  right: 'write',
  params: ApplicationParams,
  body: {
    bytesMax: LARGE_BODY_BYTES_MAX,
    schema: SecretsCollectionCreate,
    example: { id: 'solver-licence', name: 'Solver licence', secrets: secretsExample },
  },
  responses: {
    201: {
      description: 'The collection without its values.',
      schema: SecretsCollectionSummary,
      example: summaryExample,
    },
  },
  errors: [404],
});

export const listSecretsCollections = defineOperation({
  id: 'listSecretsCollections',
  method: 'GET',
  path: '/v1/applications/{application_id}/secrets',
  tag: 'secrets',
  summary: 'List secrets collections',
  description: 'Lists the secrets collections of the application, without their values.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object(PageQuery),
  responses: {
    200: {
      description: 'The collections, newest first.',
      schema: itemsPage(SecretsCollectionSummary),
      example: { items: [summaryExample] },
    },
  },
  errors: [404],
});

export const getSecretsCollection = defineOperation({
  id: 'getSecretsCollection',
  method: 'GET',
  path: '/v1/applications/{application_id}/secrets/{collection_id}',
  tag: 'secrets',
  summary: 'Get a secrets collection',
  description: 'Answers the collection with its values in clear text.',
  right: 'read-secrets',
  params: SecretsCollectionParams,
  responses: {
    200: {
      description: 'The collection with its values.',
      schema: SecretsCollection,
      example: { ...summaryExample, secrets: secretsExample },
    },
  },
  errors: [404],
});

export const updateSecretsCollection = defineOperation({
  id: 'updateSecretsCollection',
  method: 'PUT',
  path: '/v1/applications/{application_id}/secrets/{collection_id}',
  tag: 'secrets',
  summary: 'Update a secrets collection',
  description:
    'Changes name and description and replaces the secrets. Apps get what the collection holds when they are started, so the change reaches runs that still wait.',
  right: 'write',
  params: SecretsCollectionParams,
  body: {
    bytesMax: LARGE_BODY_BYTES_MAX,
    schema: SecretsCollectionUpdate,
    example: { name: 'Licence of the solver', secrets: secretsExample },
  },
  responses: {
    200: {
      description: 'The collection as it is now, without its values.',
      schema: SecretsCollectionSummary,
      example: { ...summaryExample, name: 'Licence of the solver' },
    },
  },
  errors: [404],
});

export const patchSecretsCollection = defineOperation({
  id: 'patchSecretsCollection',
  method: 'PATCH',
  path: '/v1/applications/{application_id}/secrets/{collection_id}',
  tag: 'secrets',
  summary: 'Change single secrets of a collection',
  description:
    'Changes name and description, and creates, updates and deletes single secrets, without sending the others. Apps get what the collection holds when they are started.',
  right: 'write',
  params: SecretsCollectionParams,
  body: {
    bytesMax: LARGE_BODY_BYTES_MAX,
    schema: SecretsCollectionPatch,
    example: {
      operations: [{ op: 'update', type: 'env', location: 'SOLVER_LICENSE', value: 'a new licence key' }],
    },
  },
  responses: {
    200: {
      description: 'The collection as it is now, without its values.',
      schema: SecretsCollectionSummary,
      example: summaryExample,
    },
  },
  errors: [404],
});

export const deleteSecretsCollection = defineOperation({
  id: 'deleteSecretsCollection',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/secrets/{collection_id}',
  tag: 'secrets',
  summary: 'Delete a secrets collection',
  description: describeDeletion(
    'Deletes the collection with its values.',
    [
      ['Instances that name it', 'While there is one, the answer is 400, names it and changes nothing.'],
      ['Runs that are queued', 'Fail when they are started, with an error that names the collection.'],
      ['Runs that are running', 'Go on with the values they were given.'],
      ['Runs that have ended', 'Stay, and go on naming the collection.'],
    ],
    'The id can be taken again.',
  ),
  right: 'write',
  params: SecretsCollectionParams,
  responses: { 204: { description: 'It is gone.' } },
  errors: [400, 404],
});
