/**
 * A typed client for the operations: `call` accepts the id and the request of an operation, and returns its response.
 * It needs only the platform's `fetch`, in Node and in browsers.
 */
import type { TSchema } from 'typebox';
import type { Body, HandlerResponse, Operation, Query } from './operation.ts';
import { type OperationId, type Operations, operations } from './operations.ts';
import { namesExpectedState } from './schemas/expected-state.ts';
import { isRecord } from './schemas/is-record.ts';

const IDEMPOTENCY_KEY = 'idempotency-key';

/** A request that is about to be sent. */
export interface RequestAttempt {
  /** true: a second copy has no second effect and gets a success as well, however far the first one came. */
  isRepeatable: boolean;
  /** true: the body can be sent again. */
  canResend: boolean;
  signal: AbortSignal | undefined;
}

/** Server and credentials of a client. */
export interface ClientSettings {
  /** URL of the server, such as `http://127.0.0.1:8080`, optionally with a path. Empty on a page of the same server. */
  url: string;
  /** Bearer token; sent to operations that need one, and never to public ones. */
  token?: string;
  fetch?: typeof globalThis.fetch;
  /** Parses the bodies of responses; JSON.parse by default. Throws for a text that is not JSON. */
  parseJson?: (text: string) => unknown;
  /**
   * Sends a request with `attempt`, and may call it again after an error. With it, every POST that needs a token has an
   * `Idempotency-Key`, so that the server answers a copy as it answered the first one.
   */
  repeat?: <T>(attempt: () => Promise<T>, request: RequestAttempt) => Promise<T>;
}

/** Ids as plain text: the distinct types for the ids of each resource matter only inside the server. */
type PlainIds<T> = T extends string
  ? T extends object
    ? string
    : T
  : T extends readonly (infer Item)[]
    ? PlainIds<Item>[]
    : T extends object
      ? { [Key in keyof T]: PlainIds<T[Key]> }
      : T;

type Placeholders<O> = O extends { params: { properties: infer P } } ? { [Name in keyof P]: string } : never;

type ParamsPart<O> = O extends { params: object } ? { params: Placeholders<O> } : { params?: undefined };
type QueryPart<O extends Operation> = O extends { query: object }
  ? { query?: PlainIds<Query<O>> }
  : { query?: undefined };
type BodyPart<O extends Operation> = O extends { body: { stream: true } }
  ? { body: BodyInit }
  : O extends { body: { required: false } }
    ? { body?: PlainIds<Body<O>> }
    : O extends { body: object }
      ? { body: PlainIds<Body<O>> }
      : { body?: undefined };

interface RequestExtras {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * A request of an operation: the path parameters, query and body that it declares. The type distributes over a union of
 * operations. Combining the parts separately would give every path with every query and body, which exceeds the limits
 * of the type checker.
 */
export type CallRequest<O extends Operation> = O extends Operation
  ? ParamsPart<O> & QueryPart<O> & BodyPart<O> & RequestExtras
  : never;

/** The content type of a stream of events, which has no end to wait for. */
export const EVENT_STREAM = 'text/event-stream';

type Content<O extends Operation, S extends keyof O['responses'], B> = O['responses'][S] extends {
  contentType: string;
}
  ? O['responses'][S] extends { contentType: typeof EVENT_STREAM }
    ? ReadableStream<Uint8Array>
    : O['responses'][S] extends { contentType: `text/${string}` }
      ? string
      : ReadableStream<Uint8Array>
  : B;

/** A response that the operation declares. Bodies that are neither JSON nor text are streams that can be read once. */
export type CallResponse<O extends Operation> =
  HandlerResponse<O> extends infer R
    ? R extends { status: infer S extends keyof O['responses'] }
      ? { status: S; body: R extends { body: infer B } ? Content<O, S, B> : undefined; headers: Headers }
      : never
    : never;

export type ResponseBody<Id extends OperationId> = CallResponse<Operations[Id]>['body'];

/** The arguments of `call` after the id: none, if the operation needs no request. */
export type CallArguments<O extends Operation> =
  Record<never, never> extends CallRequest<O> ? [request?: CallRequest<O>] : [request: CallRequest<O>];

/** A request of any operation. The server checks what no type has checked. */
interface UntypedRequest extends RequestExtras {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** The response of any operation. A body that is neither JSON nor text is a stream. */
interface UntypedResponse {
  status: number;
  body: unknown;
  headers: Headers;
}

/** A typed client of one server. */
export interface Client {
  /**
   * Calls an operation and returns its response. Throws ApiError for an undeclared status, and the error of `fetch` if
   * the request fails.
   */
  // NoInfer: only the id determines the operation. Inference from the request as well would compute the types of every
  // body for an unknown schema, which takes the type checker twenty times as long.
  call<Id extends OperationId>(
    id: Id,
    ...request: NoInfer<CallArguments<Operations[Id]>>
  ): Promise<CallResponse<Operations[Id]>>;
  /** Like `call`, for programs that learn the operation and its request at run time. */
  callUntyped(id: OperationId, request: UntypedRequest): Promise<UntypedResponse>;
  /** Calls an operation and returns the bytes of its response as they arrive. Throws as `call` does. */
  open<Id extends OperationId>(
    id: Id,
    ...request: NoInfer<CallArguments<Operations[Id]>>
  ): Promise<ReadableStream<Uint8Array>>;
}

/** The body of the requests of an operation. */
type RequestBody<Id extends OperationId> =
  CallRequest<Operations[Id]> extends { body: infer Body } ? Body : never;

/**
 * Returns the fields as the body of a request. The server validates them and names a wrong one; a copy of its rules here
 * would be older than the server.
 */
export function toBody<Id extends OperationId>(
  _operation: Id,
  fields: Record<string, unknown>,
): RequestBody<Id> {
  const request: unknown = fields;
  return request as RequestBody<Id>;
}

/** A response with an undeclared status. The body is parsed JSON, or else text. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly operation: OperationId;
  readonly status: number;
  readonly body: unknown;
  /** The sentence of the server for the caller. */
  readonly reason: string;

  constructor(operation: OperationId, status: number, body: unknown) {
    const reason = readMessage(body);
    super(`${operation} returned ${status}: ${reason}`);
    this.reason = reason;
    this.operation = operation;
    this.status = status;
    this.body = body;
  }
}

function readMessage(body: unknown): string {
  if (typeof body === 'object' && body !== null) {
    if ('error' in body && typeof body.error === 'string') return body.error;
    if ('message' in body && typeof body.message === 'string') return body.message;
  }
  return typeof body === 'string' && body !== '' ? body : 'no reason was given.';
}

/**
 * Returns the path of an operation with its parameters percent-encoded. Throws for a missing or empty parameter, `.`
 * and `..`: these paths would address another resource.
 */
export function buildPath(
  operation: { path: string },
  params: Readonly<Record<string, string>> = {},
): string {
  return operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === '' || value === '.' || value === '..') {
      const quoted = value === undefined ? 'missing' : JSON.stringify(value);
      throw new Error(`${name} is ${quoted}; ${operation.path} needs an id.`);
    }
    return encodeURIComponent(value);
  });
}

function formatQuery(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.append(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}

/** Returns a client for one server. It holds no connection and needs no closing. */
export function createClient(settings: ClientSettings): Client {
  const base = settings.url.replace(/\/+$/, '');
  const send = settings.fetch ?? globalThis.fetch;
  const { repeat } = settings;

  async function fetchResponse(id: OperationId, request: UntypedRequest): Promise<Response> {
    const declared: Operation = operations[id];
    const url = base + buildPath(declared, request.params) + formatQuery(request.query ?? {});
    const response = await send(url, buildRequestInit(declared, request, settings.token));
    if (response.status in declared.responses) return response;
    throw new ApiError(id, response.status, await readError(response));
  }

  /** Reads the whole response as part of an attempt: a connection may break in the middle of a body. */
  function fetchRepeatedly<T>(
    id: OperationId,
    request: UntypedRequest,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    if (!repeat) return fetchResponse(id, request).then(read);
    const keyed = addIdempotencyKey(operations[id], request);
    return repeat(() => fetchResponse(id, keyed).then(read), {
      isRepeatable: isRepeatable(operations[id], keyed),
      canResend: !isStream(operations[id]),
      signal: request.signal,
    });
  }

  const call = (id: OperationId, request: UntypedRequest = {}) =>
    fetchRepeatedly(id, request, async (response) => ({
      status: response.status,
      body: await readBody(id, response, settings.parseJson),
      headers: response.headers,
    }));

  const open = (id: OperationId, request: UntypedRequest = {}): Promise<ReadableStream<Uint8Array>> =>
    fetchRepeatedly(id, request, async ({ body }) => body ?? new Blob([]).stream());
  return { call, callUntyped: call, open } as Client;
}

const isStream = ({ body }: Operation): boolean => body?.stream === true;

function addIdempotencyKey(declared: Operation, request: UntypedRequest): UntypedRequest {
  if (declared.method !== 'POST' || declared.right === 'public' || isStream(declared)) return request;
  return { ...request, headers: { [IDEMPOTENCY_KEY]: crypto.randomUUID(), ...request.headers } };
}

/**
 * Returns true for a read, for a POST with a key, and for a PUT that depends on no earlier state. The other requests may change
 * the state on which a copy of them depends: a deleted resource is not found.
 */
function isRepeatable(declared: Operation, { headers = {}, body }: UntypedRequest): boolean {
  if (isStream(declared)) return false;
  if (declared.method === 'PUT')
    return !declared.refusesCopies && !(isRecord(body) && namesExpectedState(body));
  return declared.method === 'GET' || (declared.right !== 'public' && IDEMPOTENCY_KEY in headers);
}

function buildRequestInit(
  declared: Operation,
  request: UntypedRequest,
  token: string | undefined,
): RequestInit {
  const headers = new Headers(request.headers);
  if (token !== undefined && declared.right !== 'public') headers.set('authorization', `Bearer ${token}`);
  const init: RequestInit & { duplex?: 'half' } = { method: declared.method, headers };
  if (request.signal !== undefined) init.signal = request.signal;
  if (request.body === undefined) return init;
  if (declared.body?.stream) {
    // `fetch` sends a stream while reading it only with this option.
    init.duplex = 'half';
    init.body = request.body as BodyInit;
  } else {
    headers.set('content-type', 'application/json');
    init.body = JSON.stringify(request.body, rejectNoNumber);
  }
  return init;
}

/** JSON has no NaN and writes null, which removes a setting in silence. */
function rejectNoNumber(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new Error(`${name} is not a number, so the request was not sent. Enter a number.`);
}

async function readBody(
  id: OperationId,
  response: Response,
  parseJson: (text: string) => unknown = JSON.parse,
): Promise<unknown> {
  const declared: Operation = operations[id];
  const declaredResponse = Object.entries(declared.responses).find(
    ([status]) => Number(status) === response.status,
  )?.[1];
  if (declaredResponse?.schema === undefined) {
    await response.body?.cancel();
    return undefined;
  }
  if (declaredResponse.contentType === undefined)
    return parseBody(id, declaredResponse.schema, await response.text(), parseJson);
  const { contentType } = declaredResponse;
  return contentType.startsWith('text/') && contentType !== EVENT_STREAM ? response.text() : response.body;
}

/** A body that Switchyard does not send: the URL is of another server, or something answers in its place. */
class UnexpectedBodyError extends Error {
  override readonly name = 'UnexpectedBodyError';

  constructor(operation: OperationId, lacks: string) {
    super(
      `${operation} returned ${lacks}. The URL may be that of another server, or of a proxy that answers in its place: check it.`,
    );
  }
}

/** Parses a body of JSON. Throws UnexpectedBodyError without the list of a page, over which callers iterate. */
function parseBody(
  id: OperationId,
  schema: TSchema,
  text: string,
  parseJson: (text: string) => unknown,
): unknown {
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    throw new UnexpectedBodyError(id, 'a body that is not JSON');
  }
  if (isList(schema)) {
    if (!Array.isArray(body)) throw new UnexpectedBodyError(id, 'no list');
    return body;
  }
  const { required, properties }: { required?: unknown; properties?: unknown } = schema;
  // Other lists may be newer than the server.
  if (!Array.isArray(required) || !isRecord(properties) || !('next_page_token' in properties)) return body;
  const missing = required.find(
    (name) => isList(properties[name]) && !(isRecord(body) && Array.isArray(body[name])),
  );
  if (missing !== undefined) throw new UnexpectedBodyError(id, `a body without the list \`${missing}\``);
  return body;
}

const isList = (schema: unknown): boolean => isRecord(schema) && schema.type === 'array';

async function readError(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
