/** What a handler is given and may answer. Handlers are typed by the contract's operations. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Body, HandlerResponse, Operation, Params, Query } from '@switchyard/contract/operation.ts';
import type { OperationId, Operations } from '@switchyard/contract/operations.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../database/database.ts';
import type { ByteRange } from '../requests/range-header.ts';

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

export interface Call<O extends Operation> {
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
  /**
   * Keeps the answer of a POST under its Idempotency-Key, if it has one, and what was done in the audit log. Every POST calls
   * it first in the transaction of its effect, with the answer that will be given.
   */
  remember(tx: Writer, answer: HandlerResponse<O>): Promise<void>;
  /** Tells whose the request is where no caller does. */
  setOwner(owner: Owner): void;
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

export type Handler<O extends Operation> = (
  call: Call<O>,
) => Promise<HandlerResponse<O> | RawResponse | ContentResponse>;
export type Handlers = { [K in OperationId]: Handler<Operations[K]> };
/** Some of the handlers: what one slice brings. */
export type HandlersFor<K extends OperationId> = Pick<Handlers, K>;
