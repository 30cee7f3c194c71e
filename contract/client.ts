/**
 * A typed client made from the operations: `call` takes the id of an operation and what it takes, and answers what it
 * answers. Nothing beyond the platform's `fetch` is needed, in Node and in browsers.
 */
import type { Body, HandlerResponse, Operation, Query } from './operation.ts';
import { type OperationId, type Operations, operations } from './operations.ts';

export interface ClientSettings {
  /** Where the server is, such as `http://127.0.0.1:8080`; a path in it is kept. Empty in a page of the same server. */
  url: string;
  /** Bearer token; sent with operations that need one, never with public ones. */
  token?: string;
  fetch?: typeof globalThis.fetch;
}

/** Ids are plain text to callers: which noun they name is only told apart inside the server. */
type Plain<T> = T extends string
  ? T extends object
    ? string
    : T
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [Key in keyof T]: Plain<T[Key]> }
      : T;

type Placeholders<O> = O extends { params: { properties: infer P } } ? { [Name in keyof P]: string } : never;

type ParamsPart<O> = O extends { params: object } ? { params: Placeholders<O> } : { params?: undefined };
type QueryPart<O extends Operation> = O extends { query: object }
  ? { query?: Plain<Query<O>> }
  : { query?: undefined };
type BodyPart<O extends Operation> = O extends { body: { stream: true } }
  ? { body: BodyInit }
  : O extends { body: { required: false } }
    ? { body?: Plain<Body<O>> }
    : O extends { body: object }
      ? { body: Plain<Body<O>> }
      : { body?: undefined };

interface RequestExtras {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * What a call takes: the path parameters, query and body that the operation declares. Of several operations it is one of
 * their requests: put together part by part it would be every path with every query and every body, which is more than
 * the type checker counts to.
 */
export type CallRequest<O extends Operation> = O extends Operation
  ? ParamsPart<O> & QueryPart<O> & BodyPart<O> & RequestExtras
  : never;

type Content<O extends Operation, S extends keyof O['responses'], B> = O['responses'][S] extends {
  contentType: string;
}
  ? O['responses'][S] extends { contentType: `text/${string}` }
    ? string
    : ReadableStream<Uint8Array>
  : B;

/** An answer the operation declares. Bodies that are neither JSON nor text are streams, to be read once. */
export type CallResponse<O extends Operation> =
  HandlerResponse<O> extends infer R
    ? R extends { status: infer S extends keyof O['responses'] }
      ? { status: S; body: R extends { body: infer B } ? Content<O, S, B> : undefined; headers: Headers }
      : never
    : never;

type CallArguments<O extends Operation> =
  Record<never, never> extends CallRequest<O> ? [request?: CallRequest<O>] : [request: CallRequest<O>];

export interface Client {
  /** Calls an operation. Throws ApiError for an answer it does not declare, and what `fetch` throws when there is none. */
  // NoInfer: the id alone says which operation is meant. Inferring it from the request too would work out the types of
  // every body for a schema that is not known yet, which takes the type checker twenty times as long.
  call<Id extends OperationId>(
    id: Id,
    ...request: NoInfer<CallArguments<Operations[Id]>>
  ): Promise<CallResponse<Operations[Id]>>;
}

/** An answer that is not a success: its status, and its body as JSON where it is JSON, else as text. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly operation: OperationId;
  readonly status: number;
  readonly body: unknown;

  constructor(operation: OperationId, status: number, body: unknown) {
    super(`${operation} was answered ${status}: ${sentence(body)}`);
    this.operation = operation;
    this.status = status;
    this.body = body;
  }
}

function sentence(body: unknown): string {
  if (typeof body === 'object' && body !== null) {
    if ('error' in body && typeof body.error === 'string') return body.error;
    if ('message' in body && typeof body.message === 'string') return body.message;
  }
  return typeof body === 'string' && body !== '' ? body : 'no reason was given.';
}

/**
 * The path of an operation with its parameters filled in, percent-encoded. Throws for a parameter that is missing or that
 * no path can spell: an empty one, `.` and `..` would name another resource.
 */
export function buildPath(
  operation: { path: string },
  params: Readonly<Record<string, string>> = {},
): string {
  return operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === '' || value === '.' || value === '..') {
      const given = value === undefined ? 'missing' : JSON.stringify(value);
      throw new Error(`${name} is ${given}; ${operation.path} needs it to be an id.`);
    }
    return encodeURIComponent(value);
  });
}

function queryOf(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.append(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}

/** What `call` hands on once its types have done their work. */
interface LooseRequest extends RequestExtras {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

export function createClient(settings: ClientSettings): Client {
  const base = settings.url.replace(/\/+$/, '');
  const send = settings.fetch ?? globalThis.fetch;

  async function call(id: OperationId, request: LooseRequest = {}) {
    const declared: Operation = operations[id];
    const url = base + buildPath(declared, request.params) + queryOf(request.query ?? {});
    const response = await send(url, requestInit(declared, request, settings.token));
    if (!(response.status in declared.responses)) {
      throw new ApiError(id, response.status, await readError(response));
    }
    return {
      status: response.status,
      body: await readBody(declared, response),
      headers: response.headers,
    };
  }
  return { call: call as Client['call'] };
}

function requestInit(declared: Operation, request: LooseRequest, token: string | undefined): RequestInit {
  const headers = new Headers(request.headers);
  if (token !== undefined && declared.right !== 'public') headers.set('authorization', `Bearer ${token}`);
  const init: RequestInit & { duplex?: 'half' } = { method: declared.method, headers };
  if (request.signal !== undefined) init.signal = request.signal;
  if (request.body === undefined) return init;
  if (declared.body?.stream) {
    // Streams are sent as they are read; fetch wants to be told so.
    init.duplex = 'half';
    init.body = request.body as BodyInit;
  } else {
    headers.set('content-type', 'application/json');
    init.body = JSON.stringify(request.body);
  }
  return init;
}

async function readBody(declared: Operation, response: Response): Promise<unknown> {
  const answer = Object.entries(declared.responses).find(
    ([status]) => Number(status) === response.status,
  )?.[1];
  if (answer?.schema === undefined) {
    await response.body?.cancel();
    return undefined;
  }
  if (answer.contentType === undefined) return response.json();
  return answer.contentType.startsWith('text/') ? response.text() : response.body;
}

async function readError(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
