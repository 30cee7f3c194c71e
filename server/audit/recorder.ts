/**
 * Writes the audit log. What a request does is an act; its entry is written in the transaction of its effect, so that a
 * crash leaves both or neither. No handler has to see to that: every transaction goes through `database` here, which knows,
 * by the context that the request is answered in, whether it is the effect of an act.
 *
 * - The effect of a POST is the transaction in which it notes its answer: that has the id of what it made.
 * - The effect of a PUT, PATCH or DELETE is its first durable transaction. Whoever finds in there that nothing can be done
 *   throws, which takes the entry back with the rest.
 * - A look at a secret has no transaction of its own; its entry is written before the answer goes out.
 *
 * What must stay true: an act that was answered as done has one entry, and one that was not has none.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AccountId, EntryId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../clock.ts';
import type { Database, TransactOptions, Writer } from '../database/database.ts';
import { Problem } from '../http/errors/problem.ts';
import type { AuditedAction, AuditedEffect, AuditLog, AuditScope } from '../http/handlers/audited-actions.ts';
import type { Owner } from '../http/handlers/handler.ts';
import type { Log } from '../log.ts';
import { makeId, type Random } from '../random.ts';
import { createdIds } from './created-ids.ts';
import { insertEntry, type NewEntry } from './store.ts';

/** A key that is refused again and again fills no log: the first in this time is kept. */
const REFUSAL_INTERVAL_MS = 60_000;
/** Those whose time has passed are forgotten when there are more. */
const REFUSALS_MAX = 10_000;
/** Longer than any id there is; what is refused may have any text in its path. */
const ID_CHARS_MAX = 128;

interface ActiveAction {
  readonly action: AuditedAction;
  /** Whether the transaction of the effect is told by `note`. */
  readonly isPost: boolean;
  owner: Owner | null;
  isWritten: boolean;
}

interface Parts {
  /** The database as it is opened. */
  opened: Database;
  clock: Clock;
  random: Random;
  log: Log;
}

export class AuditRecorder implements AuditLog {
  readonly #parts: Parts;
  readonly #doing = new AsyncLocalStorage<ActiveAction>();
  readonly #refused = new Map<string, number>();
  /** The database for everybody else. */
  readonly database: Database;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.database = { ...parts.opened, transact: (work, options) => this.#transact(work, options) };
  }

  async audit<T extends object>(act: AuditedAction, handle: (telling: AuditScope) => Promise<T>): Promise<T> {
    const doing: ActiveAction = {
      action: act,
      isPost: act.operation.method === 'POST',
      owner: null,
      isWritten: false,
    };
    const telling: AuditScope = {
      recordResponse: async (tx, answer) => {
        doing.isWritten = true;
        await this.#write(tx, doing, answer.body);
      },
      setOwner: (owner) => {
        doing.owner = owner;
      },
    };
    let status = 200;
    try {
      const answer = await this.#doing.run(doing, () => handle(telling));
      if ('status' in answer && typeof answer.status === 'number') status = answer.status;
      if (status >= 300 || doing.isWritten) return answer;
      if (doing.isPost) throw new Error(`${act.operation.id} did not note its answer`);
      await this.#parts.opened.transact((tx) => this.#write(tx, doing));
      return answer;
    } catch (error) {
      if (error instanceof Problem) {
        status = error.status;
        if (status === 403) await this.auditRefusal(act);
      }
      throw error;
    } finally {
      if (status >= 300 && doing.isWritten && !doing.isPost)
        this.#parts.log.error(
          { request: act.requestId, operation: act.operation.id, status },
          'Audit entry written for an operation that had no effect.',
        );
      // Whatever goes on in this context from here on is not the act.
      doing.isWritten = true;
    }
  }

  transact<T>(work: (tx: Writer) => Promise<T>, options?: TransactOptions): Promise<T> {
    return this.#parts.opened.transact(work, options);
  }

  insertEntry(tx: Writer, action: AuditedAction, { owner, body }: AuditedEffect): Promise<void> {
    return insertEntry(tx, this.#entry(action, 'done', owner, createdIds(action.operation, body)));
  }

  async auditRefusal(act: AuditedAction): Promise<void> {
    if (!act.caller) return;
    const { clock, opened } = this.#parts;
    const now = clock.now();
    const name = `${act.caller.key} ${act.operation.id}`;
    if (now - (this.#refused.get(name) ?? Number.NEGATIVE_INFINITY) < REFUSAL_INTERVAL_MS) return;
    if (this.#refused.size >= REFUSALS_MAX)
      for (const [other, at] of this.#refused)
        if (now - at >= REFUSAL_INTERVAL_MS) this.#refused.delete(other);
    this.#refused.set(name, now);
    await opened.transact((tx) => insertEntry(tx, this.#entry(act, 'refused', null, {})));
  }

  #transact<T>(work: (tx: Writer) => Promise<T>, options?: TransactOptions): Promise<T> {
    const { opened } = this.#parts;
    const doing = this.#doing.getStore();
    const isEffect = doing && !doing.isPost && !doing.isWritten;
    if (!isEffect || options?.durable === false || options?.audited === false)
      return opened.transact(work, options);
    doing.isWritten = true;
    return opened
      .transact(async (tx) => {
        const value = await work(tx);
        await this.#write(tx, doing);
        return value;
      }, options)
      .catch((error: unknown) => {
        doing.isWritten = false;
        throw error;
      });
  }

  #write(tx: Writer, { action, owner }: ActiveAction, body?: unknown): Promise<void> {
    return this.insertEntry(tx, action, { owner, body });
  }

  #entry(
    { operation, caller, params, requestId, address }: AuditedAction,
    outcome: NewEntry['outcome'],
    owner: Owner | null,
    made: Record<string, string>,
  ): NewEntry {
    const { clock, random } = this.#parts;
    const named = Object.entries(params).map(([name, id]) => [name, keepable(id)]);
    const resource: Record<string, string> = { ...owner?.resource, ...Object.fromEntries(named), ...made };
    return {
      id: makeId<EntryId>(random, 'entry'),
      created_at: clock.now(),
      account_id: caller?.account ?? owner?.account ?? (made.account_id as AccountId | undefined) ?? null,
      application_id: resource.application_id ?? null,
      key_id: caller?.key ?? null,
      key_name: caller?.name ?? null,
      role: caller?.role ?? null,
      user_email: caller?.email ?? null,
      operation: operation.id,
      outcome,
      resource: JSON.stringify(resource),
      request_id: requestId,
      address,
    };
  }
}

/** No database is asked to keep a NUL. */
function keepable(id: string): string {
  return id.slice(0, ID_CHARS_MAX).replaceAll('\0', '').toWellFormed();
}
