/** The call that a handler gets and the response it returns, typed by the contract's operations. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Body, HandlerResponse, Operation, Params, Query } from '@switchyard/contract/operation.ts';
import { type OperationId, type Operations, operations } from '@switchyard/contract/operations.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { ByteRange } from '../requests/range-header.ts';
import { isAudited } from './audited-actions.ts';
import type { AnyResponse, Committed, OperationEffect } from './commit.ts';
import type { Context } from './context.ts';

/** Who calls, as the bearer token says and the store confirms. */
export interface Caller {
  account: AccountId;
  key: KeyId;
  /** Name of the key. */
  name: string;
  role: Role;
  email: string;
  /** `normalizeEmail` the address: the same for all keys of a member. */
  owner: string;
}

export type Member = Pick<Caller, 'account' | 'owner'>;

/** Names the member that calls, whichever of its keys it uses. */
export function formatMemberKey({ account, owner }: Member): string {
  return `${account} ${owner}`;
}

/** Whose something is, and by which ids it is known there. */
export interface Owner {
  account: AccountId;
  resource: Record<string, string>;
}

/** A validated request. */
export interface PlainCall<O extends Operation> {
  params: Params<O>;
  query: Query<O>;
  body: Body<O>;
  /** For operations whose right is `public` there is none; reading it there is a fault of ours. */
  caller: Caller;
  /** For an operation that takes a token and needs none: who calls, or null without a token. */
  optionalCaller: Caller | null;
  headers: IncomingHttpHeaders;
  /** The request body as it came; empty when there is none or it is a stream. */
  rawBody: Buffer;
  /** The body of an operation that takes raw bytes. */
  stream: Readable;
  /** Waits until there is memory to read the stream for the member that sends it, and throws the 429 when there is none. */
  reserveStreamMemory(member: Member): Promise<void>;
}

/** A body that goes out as it is, in place of the one the contract describes. */
export interface RawResponse {
  status: 200;
  raw: Buffer | string | Readable;
  contentType: string;
  /** Of a stream: what it has in memory while the caller does not read it; two pieces of content when absent. */
  memoryBytes?: number;
}

/** Content of which a caller may ask for a part. It is opened once it is known which. */
export interface ContentResponse {
  content: {
    bytes: number;
    contentType: string;
    /** Names the content as it is: what has the same name has the same bytes. */
    id: string;
    open(range: ByteRange | null): Promise<Readable>;
  };
}

/** Whether a request on the operation leaves an audit entry; `isAudited` is the same rule at run time. */
type IsAudited<O extends Operation> = O['method'] extends 'GET'
  ? O['right'] extends 'read-secrets'
    ? true
    : false
  : true;

/**
 * How an audited operation commits. The response of a POST is stored with its effect, so it is known in the transaction;
 * only a 304 says that there was no effect.
 */
type EffectOf<O extends Operation> = Pick<
  OperationEffect<HandlerResponse<O>>,
  O['method'] extends 'POST' ? 'commit' | 'setOwner' : 'commit' | 'commitThen' | 'setOwner'
> &
  (304 extends HandlerResponse<O>['status']
    ? { noEffect(response: { status: 304 }): Committed<HandlerResponse<O>> }
    : unknown);

/** The request as its handler gets it. Only the call of an audited operation can write. */
export type CallOf<K extends OperationId> =
  IsAudited<Operations[K]> extends true
    ? PlainCall<Operations[K]> & EffectOf<Operations[K]>
    : PlainCall<Operations[K]>;

export type ResponseOf<K extends OperationId> =
  IsAudited<Operations[K]> extends true
    ? Committed<HandlerResponse<Operations[K]>>
    : HandlerResponse<Operations[K]> | RawResponse | ContentResponse;

/** The handler of an operation: an exported function with the name of the operation. */
export type HandlerOf<K extends OperationId> = (context: Context, call: CallOf<K>) => Promise<ResponseOf<K>>;

/** A handler bound to its context. What it can do with the call was checked when it was bound. */
export type BoundHandler = (
  call: PlainCall<Operation> & Partial<OperationEffect<AnyResponse>>,
) => Promise<AnyResponse | RawResponse | ContentResponse>;
export type Handlers = Record<OperationId, BoundHandler>;

/** Binds the handlers that a module exports to the context. A module that exports anything else does not compile. */
export function bindHandlers<K extends OperationId>(
  context: Context,
  handlers: { [P in K]: HandlerOf<P> },
): Pick<Handlers, K> {
  const bound = Object.entries<(context: Context, call: unknown) => Promise<unknown>>(handlers as never).map(
    ([id, handler]) => {
      const isCommitted = isAudited(operations[id as K]);
      const respond = async (call: unknown) => {
        const result = await handler(context, call);
        return isCommitted ? (result as Committed<unknown>).response : result;
      };
      return [id, respond];
    },
  );
  return Object.fromEntries(bound) as Pick<Handlers, K>;
}
