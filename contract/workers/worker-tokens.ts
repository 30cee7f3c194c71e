/** Worker tokens: the credentials of remote workers. */
import Type, { type Static } from 'typebox';
import { LABELS_MAX, WORKER_TOKENS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { nameSchema, nullable, optionalNullable, timestampSchema } from '../schemas/field-schemas.ts';
import { type ApplicationId, idReferenceSchema, idSchema, type WorkerTokenId } from '../schemas/ids.ts';

const scopeFields = {
  applications: nullable(
    Type.Array(idSchema<ApplicationId>('Id of an application.'), {
      description: 'The applications whose runs its workers execute; null for all applications.',
    }),
  ),
  labels: nullable(
    Type.Array(Type.String(), {
      description: 'The labels that its workers may offer; null for any labels.',
    }),
  ),
  all_accounts: Type.Boolean({
    description: 'true if its workers execute the runs of all accounts of the server.',
  }),
};

const WorkerToken = Type.Object(
  {
    id: idSchema<WorkerTokenId>('Id of the worker token.'),
    name: Type.String({ description: 'Name of the worker token.' }),
    ...scopeFields,
    created_at: timestampSchema('Creation time'),
    created_by: Type.String({ description: 'Email address of the member who created it.' }),
    last_used_at: nullable(timestampSchema('Last use, to the minute; null if it was never used')),
    workers: Type.Integer({ description: 'Number of registered workers that use it.' }),
  },
  { $id: 'WorkerToken', description: 'The credential of remote workers.' },
);
export type WorkerToken = Static<typeof WorkerToken>;

const NewWorkerToken = Type.Object(
  { ...WorkerToken.properties, token: Type.String({ description: 'The token. It is not shown again.' }) },
  { $id: 'NewWorkerToken', description: 'A new worker token.' },
);

const WorkerTokenCreate = Type.Object(
  {
    name: nameSchema('worker token'),
    applications: optionalNullable(
      Type.Array(idReferenceSchema<ApplicationId>('Id of an application.'), {
        minItems: 1,
        maxItems: 100,
        uniqueItems: true,
        description: 'Restricts its workers to the runs of these applications.',
      }),
    ),
    labels: optionalNullable(
      Type.Array(Type.String(), {
        maxItems: LABELS_MAX,
        uniqueItems: true,
        description: 'Restricts the labels that its workers may offer, such as `gpu` or `region=eu`.',
      }),
    ),
    all_accounts: Type.Optional(
      Type.Boolean({
        description: 'true: its workers execute the runs of all accounts. Only root may set it.',
      }),
    ),
  },
  { $id: 'WorkerTokenCreate', additionalProperties: false, description: 'The worker token to create.' },
);

const WorkerTokens = Type.Object(
  { items: Type.Array(WorkerToken, { description: 'The worker tokens, newest first.' }) },
  { $id: 'WorkerTokens', description: 'The worker tokens of the account.' },
);

const example = {
  id: 'wtk-01jd3v7k9mq2z5x8',
  name: 'Solver nodes',
  applications: null,
  labels: null,
  all_accounts: false,
  created_at: '2026-11-20T08:00:00.000Z',
  created_by: 'ada@example.com',
  last_used_at: null,
  workers: 0,
};

export const createWorkerToken = defineOperation({
  id: 'createWorkerToken',
  method: 'POST',
  path: '/v1/account/worker-tokens',
  tag: 'workers',
  summary: 'Create a worker token',
  description: `Creates a worker token and returns its text. No later response shows it. A remote worker with the token claims and executes the runs of the account, and can do nothing else. An account can have ${WORKER_TOKENS_MAX} worker tokens.`,
  right: 'account',
  returnsToken: true,
  body: { schema: WorkerTokenCreate, example: { name: 'Solver nodes' } },
  responses: respond(201, 'The worker token with its text.', NewWorkerToken, {
    ...example,
    token: 'worker.wtk-01jd3v7k9mq2z5x8.6yVb…',
  }),
});

export const getWorkerTokens = defineOperation({
  id: 'getWorkerTokens',
  method: 'GET',
  path: '/v1/account/worker-tokens',
  tag: 'workers',
  summary: 'Get the worker tokens',
  description: 'Returns the worker tokens of the account with their last use, without their text.',
  right: 'account',
  responses: respond(200, 'The worker tokens.', WorkerTokens, { items: [example] }),
});

export const revokeWorkerToken = defineOperation({
  id: 'revokeWorkerToken',
  method: 'DELETE',
  path: '/v1/account/worker-tokens/{worker_token_id}',
  tag: 'workers',
  summary: 'Revoke a worker token',
  description:
    'Revokes a worker token at once. Its workers are removed, and the runs that they execute are queued again.',
  right: 'account',
  params: Type.Object({ worker_token_id: idSchema<WorkerTokenId>('Id of the worker token.') }),
  responses: { 204: { description: 'The worker token is revoked.' } },
});
