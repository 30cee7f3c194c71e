/**
 * The only way from a handler to an effect. `commit` runs the handler's work, stores the response under the
 * Idempotency-Key of the request and writes the audit entry, all in one durable transaction: a crash leaves all or none.
 *
 * Invariant: an audited operation that was answered as done has exactly one audit entry, and one that was refused has none.
 * A handler of an audited operation returns `Committed`, which nobody else can make, so forgetting the entry does not
 * compile. What throws inside the work rolls back the entry and the stored response too.
 */
import type { TransactOptions, Writer } from '../../database/database.ts';
import type { AuditedAction, AuditLog } from './audited-actions.ts';
import type { Owner } from './handler.ts';

export type CommitOptions = Pick<TransactOptions, 'insertOnly'>;

export interface AnyResponse {
  status: number;
  body?: unknown;
}

/** The response of an effect that is committed. */
class CommittedResponse<R> {
  /** Private members make the class nominal: no object literal is assignable to it. */
  readonly #response: R;

  constructor(response: R) {
    this.#response = response;
  }

  get response(): R {
    return this.#response;
  }
}
export type Committed<R> = CommittedResponse<R>;

export interface OperationEffectParts {
  action: AuditedAction;
  auditLog: AuditLog;
  /** Stores the response under the Idempotency-Key of the request; does nothing without one. */
  storeResponse(tx: Writer, response: AnyResponse): Promise<void>;
}

/** The effect of one request on an audited operation. `R` is what the contract lets it respond. */
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
   * Runs the work in one transaction with the stored response and the audit entry, and returns its response. The ids in
   * the response go into the entry of a POST. The work runs again when the database rolls it back for another transaction.
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

  /** Like `commit`, for a response that is built from the result of the work after the transaction. */
  async commitThen<T>(
    work: (tx: Writer) => Promise<T>,
    respond: (result: T) => R | Promise<R>,
  ): Promise<Committed<R>> {
    return new CommittedResponse(await respond(await this.#transact(work, () => undefined)));
  }

  /** The response of a request that found nothing to do; it has no audit entry. */
  noEffect(response: R): Committed<R> {
    return new CommittedResponse(response);
  }

  async #transact<T>(
    work: (tx: Writer) => Promise<T>,
    bodyOf: (result: T) => unknown,
    options: CommitOptions = {},
  ): Promise<T> {
    const { action, auditLog } = this.#parts;
    if (this.#isCommitted)
      throw new Error(`${action.operation.id} committed before; one request has one effect.`);
    const result = await auditLog.transact(async (tx) => {
      const result = await work(tx);
      await auditLog.insertEntry(tx, action, { owner: this.#owner, body: bodyOf(result) });
      return result;
    }, options);
    this.#isCommitted = true;
    return result;
  }
}
