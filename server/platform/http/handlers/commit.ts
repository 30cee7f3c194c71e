/**
 * The only way from a handler to an effect. `commit` runs the work of the handler, stores the response under the
 * Idempotency-Key of the request and writes the audit entry. One durable transaction contains all three, so a crash
 * leaves all or none.
 *
 * Invariant: a successful audited operation has exactly one audit entry, and a failed one has none. A handler of an
 * audited operation returns `Committed`, which only this module creates, so forgetting the entry does not compile. An
 * error inside the work rolls back the entry and the stored response too.
 */
import type { TransactOptions, Writer } from '../../database/database.ts';
import type { AuditedAction, AuditLog } from './audited-actions.ts';
import type { Owner } from './handler.ts';

/** `insertOnly` lets the database commit the work together with that of other requests. */
export type CommitOptions = Pick<TransactOptions, 'insertOnly'>;

/** The status and JSON body of any response. */
export interface AnyResponse {
  status: number;
  body?: unknown;
}

/** The response of a committed effect. */
class CommittedResponse<R> {
  /** The private member makes the class nominal: no object literal is assignable to it. */
  readonly #response: R;

  constructor(response: R) {
    this.#response = response;
  }

  get response(): R {
    return this.#response;
  }
}
export type Committed<R> = CommittedResponse<R>;

/** Returns the response of a committed effect, and any other value unchanged. */
export function unwrapCommitted(result: unknown): unknown {
  return result instanceof CommittedResponse ? result.response : result;
}

/** The action of a request, and the places that record it. */
export interface OperationEffectParts {
  action: AuditedAction;
  auditLog: AuditLog;
  /** Stores the response under the Idempotency-Key of the request; does nothing without one. */
  storeResponse(tx: Writer, response: AnyResponse): Promise<void>;
}

/** The effect of one request to an audited operation. `R` is the union of the responses in its contract. */
export class OperationEffect<R extends AnyResponse> {
  readonly #parts: OperationEffectParts;
  #owner: Owner | null = null;
  #isCommitted = false;

  constructor(parts: OperationEffectParts) {
    this.#parts = parts;
  }

  /** Names the account and resource of a request that has no caller. Call it before the commit. */
  setOwner(owner: Owner): void {
    this.#owner = owner;
  }

  /**
   * Runs the work in one transaction with the stored response and the audit entry, and returns its response. The entry
   * of a POST contains the ids of the response. The work runs again after a serialisation failure of the database.
   * Throws when the request has already committed.
   */
  async commit(work: (tx: Writer) => Promise<R>, options: CommitOptions = {}): Promise<Committed<R>> {
    const response = await this.#transact(
      async (tx) => {
        const response = await work(tx);
        await this.#parts.storeResponse(tx, response);
        return response;
      },
      ({ body }) => body,
      options,
    );
    return new CommittedResponse(response);
  }

  /** Like `commit`, but builds the response from the result of the work after the transaction. */
  async commitThen<T>(
    work: (tx: Writer) => Promise<T>,
    respond: (result: T) => R | Promise<R>,
  ): Promise<Committed<R>> {
    return new CommittedResponse(await respond(await this.#transact(work, () => undefined)));
  }

  /** Responds without an effect and without an audit entry. */
  noEffect(response: R): Committed<R> {
    return new CommittedResponse(response);
  }

  async #transact<T>(
    work: (tx: Writer) => Promise<T>,
    selectBody: (result: T) => unknown,
    options: CommitOptions = {},
  ): Promise<T> {
    const { action, auditLog } = this.#parts;
    if (this.#isCommitted)
      throw new Error(`${action.operation.id} has already committed; one request has one effect.`);
    const result = await auditLog.transact(async (tx) => {
      const result = await work(tx);
      await auditLog.insertEntry(tx, action, { owner: this.#owner, body: selectBody(result) });
      return result;
    }, options);
    this.#isCommitted = true;
    return result;
  }
}
