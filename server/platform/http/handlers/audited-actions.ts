/**
 * The actions that have an entry in the audit log (server/accounts/audit/). The method and right of an operation decide, so that
 * a new operation is audited without further code.
 */
import type { Operation } from '@switchyard/contract/operation.ts';
import type { TransactOptions, Writer } from '../../database/database.ts';
import type { Caller, Owner } from './handler.ts';

/** The facts of an audit entry that every request has. */
export interface AuditedAction {
  operation: Operation;
  /** null for a request without a token. */
  caller: Caller | null;
  /** The ids in the path. */
  params: Record<string, string>;
  requestId: string;
  address: string;
}

/** The facts of an audit entry that only the handler knows. */
export interface AuditedEffect {
  /** The account and resource of a request without a caller. */
  owner: Owner | null;
  /** The body of the response to a POST: it has the ids of the rows the effect created. */
  body?: unknown;
}

/** The interface of server/accounts/audit/ to the HTTP server. */
export interface AuditLog {
  /** Runs the work of an effect in one durable transaction. */
  transact<T>(work: (tx: Writer) => Promise<T>, options?: TransactOptions): Promise<T>;
  /** Writes the audit entry of an action in the transaction of its effect. */
  insertEntry(tx: Writer, action: AuditedAction, effect: AuditedEffect): Promise<void>;
  /** Writes an entry for an action whose caller lacks the right to it. */
  auditRefusal(action: AuditedAction): Promise<void>;
  /** Returns the address of the person who changed the resource of the action at the time; null when no entry says it. */
  findChanger(action: AuditedAction, changedAt: number): Promise<string | null>;
}

/**
 * True for every operation that may change something, and for every read of a secret. A POST with the right `read` computes,
 * and workers report what requests of others have caused.
 */
export function isAudited({ method, right }: Operation): boolean {
  return (method !== 'GET' && right !== 'read' && right !== 'work') || right === 'read-secrets';
}

/** The audit log of a server whose handlers have no effects. */
export const NO_AUDIT_LOG: AuditLog = {
  transact: () => Promise.reject(new Error('This server has no database.')),
  insertEntry: async () => {},
  auditRefusal: async () => {},
  findChanger: async () => null,
};
