/**
 * Writes the audit log. `call.commit` of a handler writes the entry of an audited action in the transaction of its effect
 * (`http/handlers/commit.ts`), so that a crash leaves both or neither. The entry of a refusal has no effect and a
 * transaction of its own.
 */
import type { AccountId, EntryId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../clock.ts';
import type { Database, TransactOptions, Writer } from '../database/database.ts';
import type { AuditedAction, AuditedEffect, AuditLog } from '../http/handlers/audited-actions.ts';
import type { Owner } from '../http/handlers/handler.ts';
import { makeId, type Random } from '../random.ts';
import { createdIds } from './created-ids.ts';
import { insertEntry, type NewEntry } from './store.ts';

/** Of repeated refusals of a key on one operation, the first in this time has an entry, so that nobody can fill the log. */
const REFUSAL_INTERVAL_MS = 60_000;
/** Refusals that are remembered; expired ones are removed when there are more. */
const REFUSALS_MAX = 10_000;
/** Longer than any id; the path of a refused request may hold any text. */
const ID_CHARS_MAX = 128;

interface Parts {
  database: Database;
  clock: Clock;
  random: Random;
}

export class AuditRecorder implements AuditLog {
  readonly #parts: Parts;
  readonly #refused = new Map<string, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  transact<T>(work: (tx: Writer) => Promise<T>, options?: TransactOptions): Promise<T> {
    return this.#parts.database.transact(work, options);
  }

  insertEntry(tx: Writer, action: AuditedAction, { owner, body }: AuditedEffect): Promise<void> {
    return insertEntry(tx, this.#entry(action, 'done', owner, createdIds(action.operation, body)));
  }

  async auditRefusal(action: AuditedAction): Promise<void> {
    if (!action.caller) return;
    const { clock, database } = this.#parts;
    const now = clock.now();
    const name = `${action.caller.key} ${action.operation.id}`;
    if (now - (this.#refused.get(name) ?? Number.NEGATIVE_INFINITY) < REFUSAL_INTERVAL_MS) return;
    if (this.#refused.size >= REFUSALS_MAX)
      for (const [other, at] of this.#refused)
        if (now - at >= REFUSAL_INTERVAL_MS) this.#refused.delete(other);
    this.#refused.set(name, now);
    await database.transact((tx) => insertEntry(tx, this.#entry(action, 'refused', null, {})));
  }

  #entry(
    { operation, caller, params, requestId, address }: AuditedAction,
    outcome: NewEntry['outcome'],
    owner: Owner | null,
    made: Record<string, string>,
  ): NewEntry {
    const { clock, random } = this.#parts;
    const named = Object.entries(params).map(([name, id]) => [name, storableId(id)]);
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

/** PostgreSQL cannot store a NUL. */
function storableId(id: string): string {
  return id.slice(0, ID_CHARS_MAX).replaceAll('\0', '').toWellFormed();
}
