/**
 * An operation as data: what the documents show, what the server enforces, what handlers and client are typed by.
 */
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorStatus } from './errors.ts';
import { BODY_BYTES_MAX, PUBLIC_BODY_BYTES_MAX, UPLOAD_BYTES_MAX } from './limits.ts';
import type { Right } from './roles.ts';

export const TAGS = [
  'account',
  'accounts',
  'applications',
  'executables',
  'versions',
  'instances',
  'secrets',
  'runs',
  'inputs',
  'input-sets',
  'ensembles',
  'shadow-tests',
  'switchback-tests',
  'batch-experiments',
  'acceptance-tests',
  'webhooks',
  'service',
] as const;
export type Tag = (typeof TAGS)[number];

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A success answer. Without a schema it has no body; `contentType` is JSON unless said otherwise. */
export interface OperationResponse {
  description: string;
  schema?: TSchema;
  example?: unknown;
  contentType?: string;
  /** Headers worth knowing, by name, with what they say. */
  headers?: Record<string, string>;
}

export interface Operation {
  id: string;
  method: Method;
  /** With `{parameter}` placeholders, as OpenAPI writes them. */
  path: string;
  tag: Tag;
  summary: string;
  description: string;
  right: Right;
  /** For the right `public`: a token is not needed, but one that is sent has to be good, and its caller is looked at. */
  optionalToken?: true;
  /**
   * The answer lets somebody in. Who may have it is decided for one caller, so an Idempotency-Key gives it again to that
   * one alone.
   */
  returnsToken?: true;
  params?: TObject;
  query?: TObject;
  /** Headers of its own that it understands; what it does not understand of them it ignores. */
  headers?: TObject;
  /**
   * `required: false` lets the body be absent. `stream` bodies are raw bytes that the handler reads itself. `bytesMax` is for
   * bodies that may be larger than others; see `bodyBytesMax`.
   */
  body?: { schema: TSchema; example?: unknown; required?: boolean; stream?: boolean; bytesMax?: number };
  responses: Partial<Record<SuccessStatus, OperationResponse>>;
  /** Error statuses beside the ones every operation has (401, 403 with a token; 400 with anything to validate; 429). */
  errors?: readonly ErrorStatus[];
}

/** The bytes that a body of the operation may have. */
export function bodyBytesMax({ right, body }: Operation): number {
  if (body?.stream) return UPLOAD_BYTES_MAX;
  if (body?.bytesMax) return body.bytesMax;
  return body === undefined || right === 'public' ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX;
}

/**
 * Every error status the operation may answer, ascending: what it names itself, 401 and 403 where a token is needed, 429
 * where memory or rates are limited, and 400, which an unknown query parameter is on every operation.
 */
export function listErrorStatuses(declared: Operation): ErrorStatus[] {
  const statuses = new Set<ErrorStatus>([400, ...(declared.errors ?? [])]);
  if (declared.right !== 'public') for (const status of [401, 403] as const) statuses.add(status);
  if (declared.tag !== 'service') statuses.add(429);
  return [...statuses].sort((a, b) => a - b);
}

type SuccessStatus = 200 | 201 | 202 | 204 | 206 | 302 | 304 | 503;

/** Declares an operation, keeping its exact type. */
export function defineOperation<const T extends Operation>(declared: T): T {
  return declared;
}

type Shape<T> = T extends TSchema ? Static<T> : Record<string, never>;

export type Params<O extends Operation> = Shape<O['params']>;
export type Query<O extends Operation> = Shape<O['query']>;
export type Body<O extends Operation> = O['body'] extends { schema: infer S extends TSchema }
  ? Static<S>
  : undefined;

/** What a handler may answer: one of the declared statuses with the body declared for it. */
export type HandlerResponse<O extends Operation> = {
  [S in keyof O['responses'] & SuccessStatus]: O['responses'][S] extends { schema: infer B extends TSchema }
    ? { status: S; body: Static<B>; headers?: Record<string, string> }
    : { status: S; headers?: Record<string, string> };
}[keyof O['responses'] & SuccessStatus];
