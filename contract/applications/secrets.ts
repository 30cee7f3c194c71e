/**
 * A secrets collection stores confidential values for apps, such as licence keys. A caller with the right to read
 * secrets reads the values of one collection at a time. Every other response shows a summary without values.
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
import { conditionFields } from '../schemas/conditional-writes.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  descriptionSchema,
  nameOrIdSchema,
  optionalNullable,
  stringEnum,
  timestampSchema,
} from '../schemas/field-schemas.ts';
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
  type: stringEnum(SECRET_TYPES, 'Form in which the app gets the value: an environment variable or a file.'),
  location: Type.String({
    minLength: 1,
    maxLength: SECRET_LOCATION_CHARS_MAX,
    pattern: NO_NUL_PATTERN,
    description:
      'For env: the name of the variable, of letters, digits and underscores, without a leading digit. Names that the platform sets are reserved. For file: a path below the working directory of the app, or an absolute path below /app/ or /tmp/ where runs have a sandbox.',
  }),
  value: Type.String({
    maxLength: SECRET_VALUE_BYTES_MAX,
    format: 'password',
    description: `The value, at most ${SECRET_VALUE_BYTES_MAX} bytes in UTF-8. Logs of runs show lines of the value with 4 characters or more as ***.`,
  }),
};

export const Secret = Type.Object(secretFields, {
  $id: 'Secret',
  description: 'One secret and its location.',
});
export type Secret = Static<typeof Secret>;

const NewSecret = Type.Object(secretFields, {
  $id: 'SecretCreate',
  additionalProperties: false,
  description: 'One secret and its location.',
});

const summaryFields = {
  id: idSchema<SecretsCollectionId>('Id of the collection.'),
  application_id: idSchema<ApplicationId>('Id of the application.'),
  name: Type.String({ description: 'Name of the collection.' }),
  description: Type.String({ description: 'Description; empty by default.' }),
  created_at: timestampSchema('Creation time'),
  updated_at: timestampSchema('Time of the last change'),
};

export const SecretsCollectionSummary = Type.Object(summaryFields, {
  $id: 'SecretsCollectionSummary',
  description: 'A secrets collection without its values.',
});
export type SecretsCollectionSummary = Static<typeof SecretsCollectionSummary>;

const SecretsCollection = Type.Object(
  { ...summaryFields, secrets: Type.Array(Secret, { description: 'The secrets, in the order given.' }) },
  { $id: 'SecretsCollection', description: 'A secrets collection with its values.' },
);

const SecretsCollectionCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<SecretsCollectionId>('secrets collection')),
    name: optionalNullable(nameOrIdSchema('secrets collection')),
    description: optionalNullable(descriptionSchema('secrets collection')),
    secrets: Type.Array(NewSecret, {
      maxItems: SECRETS_MAX,
      description: `At most ${SECRETS_MAX} secrets, each type and location once.`,
    }),
  },
  { $id: 'SecretsCollectionCreate', additionalProperties: false, description: 'The collection to create.' },
);

const SecretsCollectionUpdate = Type.Object(
  {
    name: optionalNullable(nameOrIdSchema('secrets collection')),
    description: optionalNullable(descriptionSchema('secrets collection')),
    secrets: optionalNullable(
      Type.Array(Secret, {
        maxItems: SECRETS_MAX,
        description: 'Replaces the whole list. The default keeps it unchanged.',
      }),
    ),
    ...conditionFields,
  },
  {
    $id: 'SecretsCollectionUpdate',
    description: 'The fields to change. Others may have their present values.',
  },
);

const SECRET_OPERATIONS = ['create', 'update', 'delete'] as const;

const SecretOperation = Type.Object(
  {
    op: stringEnum(SECRET_OPERATIONS, 'Change of the secret with that type and location.'),
    type: secretFields.type,
    location: secretFields.location,
    value: optionalNullable(secretFields.value),
  },
  {
    $id: 'SecretOperation',
    additionalProperties: false,
    description: 'A change of one secret. `create` and `update` need a value.',
  },
);
export type SecretOperation = Static<typeof SecretOperation>;

const SecretsCollectionPatch = Type.Object(
  {
    name: optionalNullable(nameOrIdSchema('secrets collection')),
    description: optionalNullable(descriptionSchema('secrets collection')),
    operations: optionalNullable(
      Type.Array(SecretOperation, {
        maxItems: 2 * SECRETS_MAX,
        description: 'Changes of single secrets, applied in this order: all or none.',
      }),
    ),
    ...conditionFields,
  },
  {
    $id: 'SecretsCollectionPatch',
    description: 'The fields to change. Others may have their present values.',
  },
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
    'Creates a collection that instances and runs refer to by `secrets_collection_id`. The response omits the values. Without an id, the server generates one; without a name, the name is the id.',
  right: 'write',
  params: ApplicationParams,
  body: {
    bytesMax: LARGE_BODY_BYTES_MAX,
    schema: SecretsCollectionCreate,
    example: { id: 'solver-licence', name: 'Solver licence', secrets: secretsExample },
  },
  responses: {
    201: {
      description: 'The collection, without its values.',
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
  description: 'Returns the collection with its values in clear text.',
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
    'Changes name and description and replaces the secrets. An app gets the values when it starts, so the change also affects queued runs.',
  right: 'write',
  params: SecretsCollectionParams,
  body: {
    bytesMax: LARGE_BODY_BYTES_MAX,
    schema: SecretsCollectionUpdate,
    example: { name: 'Licence of the solver', secrets: secretsExample },
  },
  responses: {
    200: {
      description: 'The updated collection, without its values.',
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
  summary: 'Patch a secrets collection',
  description:
    'Changes name and description, and creates, updates and deletes single secrets. You do not send the other secrets. An app gets the values when it starts.',
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
      description: 'The updated collection, without its values.',
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
      ['Instances that refer to it', 'While one exists, the response is 400, names it, and nothing changes.'],
      ['Queued runs', 'Fail when they start, with an error that names the collection.'],
      ['Running runs', 'Continue with the values that they got at their start.'],
      ['Runs that have ended', 'Stay, and keep the id of the collection.'],
    ],
    'You can reuse the id.',
  ),
  right: 'write',
  params: SecretsCollectionParams,
  responses: { 204: { description: 'The collection is deleted.' } },
  errors: [400, 404],
});
