/**
 * What callers do that is worth an entry in the audit log (server/audit/). Which operations that is follows from their
 * method and their right, so that none has to be named, and a new one cannot be forgotten.
 */
import type { Operation } from '@switchyard/contract/operation.ts';
import type { TransactOptions, Writer } from '../../database/database.ts';
import type { Caller, Owner } from './handler.ts';

export interface AuditedAction {
  operation: Operation;
  /** null for what needs no token. */
  caller: Caller | null;
  /** The ids in the path. */
  params: Record<string, string>;
  requestId: string;
  address: string;
}

/** What a handler tells of its act while it does it. */
export interface AuditScope {
  /** Of a POST: the answer, which has the id of what was made. Called in the transaction of the effect. */
  recordResponse(tx: Writer, answer: { status: number; body?: unknown }): Promise<void>;
  setOwner(owner: Owner): void;
}

/** The facts of an audit entry that only the handler knows. */
export interface AuditedEffect {
  /** The account and resource of a request without a caller. */
  owner: Owner | null;
  /** The body of the response to a POST: it has the ids of the rows the effect created. */
  body?: unknown;
}

export interface AuditLog {
  /** Runs the work of an effect in one durable transaction. */
  transact<T>(work: (tx: Writer) => Promise<T>, options?: TransactOptions): Promise<T>;
  /** Writes the audit entry of an action in the transaction of its effect. */
  insertEntry(tx: Writer, action: AuditedAction, effect: AuditedEffect): Promise<void>;
  /** Answers by `handle`; the entry is written in the transaction of the effect. A refusal for lack of rights is kept, too. */
  audit<T extends object>(act: AuditedAction, handle: (telling: AuditScope) => Promise<T>): Promise<T>;
  /** Keeps that the act was refused because its caller does not have the right to it. */
  auditRefusal(act: AuditedAction): Promise<void>;
}

/** Whatever may change something, and every look at a secret. */
export function isAudited({ method, right }: Operation): boolean {
  return method !== 'GET' || right === 'read-secrets';
}

/** For servers of handlers without effects. */
export const NO_AUDIT_LOG: AuditLog = {
  transact: () => Promise.reject(new Error('This server has no database.')),
  insertEntry: async () => {},
  audit: (_act, handle) => handle({ recordResponse: async () => {}, setOwner: () => {} }),
  auditRefusal: async () => {},
};
