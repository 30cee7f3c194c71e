/** The call that a handler gets and the response it returns, typed by the contract's operations. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Body, HandlerResponse, Operation, Params, Query } from '@switchyard/contract/operation.ts';
import type { OperationId, Operations } from '@switchyard/contract/operations.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type {
  AccountId,
  ApplicationId,
  KeyId,
  RunId,
  SessionId,
  WorkerTokenId,
} from '@switchyard/contract/schemas/ids.ts';
import type { TraceContext } from '../../tracing/trace-context.ts';
import type { ByteRange } from '../requests/range-header.ts';
import { type AnyResponse, type Committed, type OperationEffect, unwrapCommitted } from './commit.ts';
import type { Context } from './context.ts';

/** A bearer token, and the headers that go with some kinds of tokens: `nextmv-account` with an ID token. */
export interface TokenCredential {
  kind: 'token';
  token: string;
  account?: string;
  /** The header by which the server's own proxy proves that the app of a run sent the request. */
  runProof?: string;
}

/** A request proves its caller by a bearer token, or by the secret in the cookie of the console. */
export type Credential = TokenCredential | { kind: 'session'; secret: string };

/** The attempt of a run whose app makes a request with its run token. */
export interface CallingRun {
  id: RunId;
  applicationId: ApplicationId;
  /** The fencing token of the attempt. */
  fence: number;
  /** The key that started it; null when unknown. */
  startedBy: KeyId | null;
  /** The name of the run, or its application if it has none. */
  name: string;
  /** The number of runs above it. */
  depth: number;
  /** false for a run of an experiment, and for a run below one. */
  isProduction: boolean;
  /** The applications that the app can reach. */
  applications: readonly ApplicationId[];
  /** The address of the server for the app, without a trailing slash. */
  endpoint: string;
}

/** The token of a remote worker that makes a request. */
export interface CallingWorker {
  tokenId: WorkerTokenId;
  /** The applications whose runs its workers execute; null for all. */
  applicationUids: readonly string[] | null;
  servesAllAccounts: boolean;
  /** The labels that its workers may offer; null for any. */
  labels: readonly string[] | null;
}

/** The key and member that the credential of a request identifies. */
export interface Caller {
  account: AccountId;
  /** For a run token, the id of the run stands for that of a key. */
  key: KeyId;
  /** Name of the key. */
  name: string;
  role: Role;
  email: string;
  /** The address after `normalizeEmail`, which is the same for all keys of a member. */
  owner: string;
  /** The session of the console that made the request; null for a bearer token. */
  session: SessionId | null;
  /** The worker token of the request; absent for any other credential. */
  worker?: CallingWorker;
  /** The run whose app made the request; absent for a token of a key and for a session. */
  run?: CallingRun;
}

export type Member = Pick<Caller, 'account' | 'owner'>;

/** Returns a key for maps and limits that is the same for all keys of a member. */
export function formatMemberKey({ account, owner }: Member): string {
  return `${account} ${owner}`;
}

const KEY_SEPARATOR = '\n';

/** Returns the holder of limits that each key of a member has (limits/member-share.ts). */
export function formatHolder(member: string, key: string): string {
  return `${member}${KEY_SEPARATOR}${key}`;
}

/** Returns the member of a holder. */
export function readMember(holder: string): string {
  return holder.split(KEY_SEPARATOR, 1)[0] ?? '';
}

/** Returns the holder of the caller's key. All runs of a member are one key. */
export function formatCaller(caller: Caller): string {
  return formatHolder(formatMemberKey(caller), caller.run ? 'runs' : caller.key);
}

/** The account of a resource, and the ids that name it there. */
export interface Owner {
  account: AccountId;
  resource: Record<string, string>;
}

/** A validated request. */
interface PlainCall<O extends Operation> {
  params: Params<O>;
  query: Query<O>;
  body: Body<O>;
  /** Reading it in a `public` operation throws, because such a request has no caller. */
  caller: Caller;
  /** For an operation with an optional token: its caller, or null without a token. */
  optionalCaller: Caller | null;
  headers: IncomingHttpHeaders;
  /** The span of the request; without one, the span that the caller sent, or null. */
  trace: TraceContext | null;
  /** The IP address of the client. */
  address: string;
  /** The bytes of the request body; empty for an absent body and for a stream. */
  rawBody: Buffer;
  /** The body of an operation that accepts raw bytes. */
  stream: Readable;
  /** Calls back when the connection closes before the response; returns a function that ends this. */
  onDisconnect(callback: () => void): () => void;
  /**
   * Waits for `work`, which reads nothing large, without the memory that the handler has reserved. Throws a 429 when it does
   * not become free again in time, and a 400 when the caller has disconnected. Only for requests without a body.
   */
  wait(work: () => Promise<void>): Promise<void>;
  /** Waits for memory to read the stream of the member. Throws a 429 when no memory becomes free in time. */
  reserveStreamMemory(member: Member): Promise<void>;
}

/** A validated request to any operation. */
export interface AnyCall extends Omit<PlainCall<Operation>, 'body'> {
  body: unknown;
}

/** A response with a JSON body, or with no body. */
export interface JsonResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A response whose body the server sends unchanged. */
export interface RawResponse {
  status: 200;
  raw: Buffer | string | Readable;
  contentType: string;
  /** Memory of a stream while the caller does not read it, in bytes; the default is two chunks of a file. */
  memoryBytes?: number;
  /** The stream is text that is compressed for a caller that accepts gzip. */
  isCompressible?: boolean;
  /** Called with the whole compressed text after it was sent, if the caller accepts gzip and the text can be cached. */
  onCompressed?(bytes: Buffer): void;
  /** The bytes are compressed already. Check `acceptsGzip` before. */
  contentEncoding?: 'gzip';
}

/** Content that supports range requests. `open` is called after the range is known. */
export interface ContentResponse {
  content: {
    bytes: number;
    contentType: string;
    /** The entity tag: the same id means the same bytes. */
    id: string;
    open(range: ByteRange | null): Promise<Readable>;
  };
}

/** True for an operation that writes audit entries; `isAudited` is the same rule at run time. */
type IsAudited<O extends Operation> = O['method'] extends 'GET'
  ? O['right'] extends 'read-secrets'
    ? true
    : false
  : O['right'] extends 'read' | 'work'
    ? false
    : true;

/**
 * The methods by which an audited operation commits. The transaction of a POST stores its response, so `commitThen` is
 * absent there. `noEffect` exists only where the contract declares a 304.
 */
type EffectMethods<O extends Operation> = Pick<
  OperationEffect<HandlerResponse<O>>,
  O['method'] extends 'POST' ? 'commit' | 'setOwner' : 'commit' | 'commitThen' | 'setOwner'
> &
  (304 extends HandlerResponse<O>['status']
    ? { noEffect(response: { status: 304 }): Committed<HandlerResponse<O>> }
    : unknown);

/** The argument of an operation's handler. Only the call of an audited operation can write. */
export type OperationCall<K extends OperationId> =
  IsAudited<Operations[K]> extends true
    ? PlainCall<Operations[K]> & EffectMethods<Operations[K]>
    : PlainCall<Operations[K]>;

/** The result of an operation's handler. */
export type HandlerResult<K extends OperationId> =
  IsAudited<Operations[K]> extends true
    ? Committed<HandlerResponse<Operations[K]>>
    : HandlerResponse<Operations[K]> | RawResponse | ContentResponse;

/** The handler of an operation: an exported function whose name is the operationId. */
export type OperationHandler<K extends OperationId> = (
  context: Context,
  call: OperationCall<K>,
) => Promise<HandlerResult<K>>;

/** A handler bound to its context. `bindHandlers` has checked the types of its call and its response. */
export type BoundHandler = (
  call: AnyCall & Partial<OperationEffect<AnyResponse>>,
) => Promise<JsonResponse | RawResponse | ContentResponse>;

/** The bound handler of every operation. */
export type Handlers = Record<OperationId, BoundHandler>;

/** Binds the exported handlers of a module to the context. A module with any other export does not compile. */
export function bindHandlers<K extends OperationId>(
  context: Context,
  handlers: { [P in K]: OperationHandler<P> },
): Pick<Handlers, K> {
  const bound = Object.entries<(context: Context, call: unknown) => Promise<unknown>>(handlers as never).map(
    ([id, handler]) => [id, async (call: unknown) => unwrapCommitted(await handler(context, call))],
  );
  return Object.fromEntries(bound) as Pick<Handlers, K>;
}
