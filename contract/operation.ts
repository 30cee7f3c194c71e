/**
 * An operation as data: the source of the documents, of the server's validation, and of the types of handlers and
 * client.
 */
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorStatus } from './errors.ts';
import { BODY_BYTES_MAX, PUBLIC_BODY_BYTES_MAX, UPLOAD_BYTES_MAX } from './limits.ts';
import type { Right } from './roles.ts';
import { hasCondition } from './schemas/conditional-writes.ts';

export const TAGS = [
  'account',
  'accounts',
  'sessions',
  'device-authorizations',
  'usage',
  'applications',
  'executables',
  'versions',
  'instances',
  'secrets',
  'retention',
  'runs',
  'views',
  'workers',
  'worker-protocol',
  'share-links',
  'inputs',
  'input-sets',
  'ensembles',
  'shadow-tests',
  'switchback-tests',
  'batch-experiments',
  'acceptance-tests',
  'experiment-plans',
  'bisect-experiments',
  'webhooks',
  'marketplace',
  'community',
  'backups',
  'service',
] as const;
export type Tag = (typeof TAGS)[number];

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A success response. Without a schema it has no body; the default of `contentType` is JSON. */
export interface OperationResponse {
  description: string;
  schema?: TSchema;
  example?: unknown;
  contentType?: string;
  /** Another form of the same response, as text, which the query of the request asks for. */
  alternative?: { contentType: string; description: string; example: string };
  /** Notable headers: name and description. */
  headers?: Record<string, string>;
}

/** Everything that the API promises about one operation. */
export interface Operation {
  id: string;
  method: Method;
  /** With `{parameter}` placeholders, as in OpenAPI. */
  path: string;
  tag: Tag;
  summary: string;
  description: string;
  right: Right;
  /** For the right `public`: the token is optional, but a given token must be valid and identifies the caller. */
  optionalToken?: true;
  /** Without a token, the limit of the address counts only requests that fail: a valid credential in the body costs nothing. */
  countsFailures?: true;
  /**
   * The response grants access, because it contains a token or an invite. Idempotency therefore repeats it only for the
   * same caller.
   */
  returnsToken?: true;
  /** A PUT of which a copy is refused, because it has an effect once. */
  refusesCopies?: true;
  /** The response may come after a long wait, during which many callers are connected: the wait reserves little memory. */
  waits?: true;
  /** The handler reads content, or a page of a log, into memory: it reserves more than most. */
  readsContent?: true;
  params?: TObject;
  query?: TObject;
  /** Headers that the operation understands. Its description says what it does with invalid values. */
  headers?: TObject;
  /**
   * `required: false` makes the body optional. The handler reads `stream` bodies itself, as raw bytes. `bytesMax`
   * allows larger bodies; see `bodyBytesMax`. The handler needs only the bytes of the field `rawField`, whatever it contains.
   */
  body?: {
    schema: TSchema;
    example?: unknown;
    required?: boolean;
    stream?: boolean;
    bytesMax?: number;
    rawField?: string;
  };
  responses: Partial<Record<SuccessStatus, OperationResponse>>;
  /** Error statuses besides those that `listErrorStatuses` knows from the rest of the operation. */
  errors?: readonly ErrorStatus[];
}

/** Returns true for an operation whose body is JSON, which is in UTF-8 and not compressed. */
export function readsJson({ body }: Operation): boolean {
  return body !== undefined && !body.stream;
}

/** Returns the maximum size of a request body of the operation, in bytes. */
export function bodyBytesMax({ right, body }: Operation): number {
  if (body?.stream) return UPLOAD_BYTES_MAX;
  if (body?.bytesMax) return body.bytesMax;
  return body === undefined || right === 'public' ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX;
}

/**
 * Returns every error status of the operation, ascending: those that it declares, 401 and 403 if it needs a token, and
 * 429 unless it is a service operation. A parameter in the path adds 404, a JSON body 415, and a condition 409. 400 is
 * always one, because any operation refuses unknown query parameters.
 */
export function listErrorStatuses(declared: Operation): ErrorStatus[] {
  const statuses = new Set<ErrorStatus>([400, ...(declared.errors ?? [])]);
  if (declared.path.includes('{')) statuses.add(404);
  if (hasCondition(declared.body?.schema) || hasCondition(declared.query)) statuses.add(409);
  if (readsJson(declared)) statuses.add(415);
  if (declared.right !== 'public') for (const status of [401, 403] as const) statuses.add(status);
  if (declared.tag !== 'service') statuses.add(429);
  return [...statuses].sort((a, b) => a - b);
}

type SuccessStatus = 200 | 201 | 202 | 204 | 206 | 302 | 304 | 503;

/** Declares an operation, preserving its exact type. */
export function defineOperation<const T extends Operation>(declared: T): T {
  return declared;
}

/** Declares the response of an operation that has one, with a body. */
export function respond<const S extends SuccessStatus, T extends TSchema>(
  status: S,
  description: string,
  schema: T,
  example: unknown,
): Record<S, { description: string; schema: T; example: unknown }> {
  const response = { description, schema, example };
  return { [status]: response } as Record<S, typeof response>;
}

type Shape<T> = T extends TSchema ? Static<T> : Record<string, never>;

/** Types of the path parameters, the query and the body of an operation, after validation. */
export type Params<O extends Operation> = Shape<O['params']>;
export type Query<O extends Operation> = Shape<O['query']>;
export type Body<O extends Operation> = O['body'] extends { schema: infer S extends TSchema }
  ? Static<S>
  : undefined;

/** A response of a handler: one of the declared statuses, with the body declared for it. */
export type HandlerResponse<O extends Operation> = {
  [S in keyof O['responses'] & SuccessStatus]: O['responses'][S] extends { schema: infer B extends TSchema }
    ? { status: S; body: Static<B>; headers?: Record<string, string> }
    : { status: S; headers?: Record<string, string> };
}[keyof O['responses'] & SuccessStatus];
