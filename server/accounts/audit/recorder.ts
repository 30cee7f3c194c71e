/**
 * Writes the audit log. `call.commit` of a handler writes the entry of an audited action in the transaction of its effect
 * (`http/handlers/commit.ts`), so that a crash leaves both or neither. The entry of a refusal has no effect and a
 * transaction of its own.
 */
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import type { AccountId, EntryId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, TransactOptions, Writer } from '../../platform/database/database.ts';
import type { AuditedAction, AuditedEffect, AuditLog } from '../../platform/http/handlers/audited-actions.ts';
import type { Owner } from '../../platform/http/handlers/handler.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { parseResource } from './entry.ts';
import { RefusalLimiter } from './refusal-limiter.ts';
import { insertEntry, listEffects, type NewEntry } from './store.ts';

/** Fields of a response that hold an id and have its name. */
const ID_FIELDS = ['run_id', 'upload_id', 'event_id', 'subscription_id'];
/** Fields of a response that hold a whole resource. */
const RESOURCE_FIELDS = ['account', 'member', 'key'];

const allOperations: Operation[] = Object.values(operations);

/** The name of the path parameter below each collection: `/v1/applications` has `application_id`. */
const ID_NAMES = new Map(
  allOperations.flatMap(({ path }) => {
    const [, collection, name] = /^(.*)\/\{(\w+)\}$/.exec(path) ?? [];
    return collection === undefined || name === undefined ? [] : [[collection, name] as const];
  }),
);

/** Returns the ids in the body of a response by their names in paths, such as `run_id`; empty when it has none. */
function createdIds({ path }: Operation, body: unknown): Record<string, string> {
  const ids: Record<string, string> = {};
  if (typeof body !== 'object' || body === null) return ids;
  const fields: Record<string, unknown> = { ...body };
  const name = ID_NAMES.get(path);
  if (name && typeof fields.id === 'string') ids[name] = fields.id;
  for (const field of ID_FIELDS) {
    const id = fields[field];
    if (typeof id === 'string' && id !== '') ids[field] = id;
  }
  for (const field of RESOURCE_FIELDS) {
    const resource = fields[field];
    if (typeof resource !== 'object' || resource === null || !('id' in resource)) continue;
    if (typeof resource.id === 'string') ids[`${field}_id`] = resource.id;
  }
  return ids;
}

/** Longer than any id. The path of a refused request may hold any text. */
const ID_CHARS_MAX = 128;

/** A change and its entry are written in one transaction, with a time each. */
const CHANGE_WINDOW_MS = 2000;
/** Effects in this window; those of other resources with the same operation are among them. */
const EFFECTS_MAX = 50;

interface Parts {
  database: Database;
  clock: Clock;
  random: Random;
}

/** The audit log of a running server. */
export class AuditRecorder implements AuditLog {
  readonly #parts: Parts;
  readonly #refusals: RefusalLimiter;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#refusals = new RefusalLimiter(parts.clock);
  }

  transact<T>(work: (tx: Writer) => Promise<T>, options?: TransactOptions): Promise<T> {
    return this.#parts.database.transact(work, options);
  }

  insertEntry(tx: Writer, action: AuditedAction, { owner, body }: AuditedEffect): Promise<void> {
    return insertEntry(tx, this.#createEntry(action, 'done', owner, createdIds(action.operation, body)));
  }

  async auditRefusal(action: AuditedAction): Promise<void> {
    if (!action.caller) return;
    if (!this.#refusals.allow(`${action.caller.key} ${action.operation.id}`)) return;
    const entry = this.#createEntry(action, 'refused', null, {});
    await this.#parts.database.transact((tx) => insertEntry(tx, entry));
  }

  async findChanger({ operation, caller, params }: AuditedAction, changedAt: number): Promise<string | null> {
    const filter = {
      account: caller?.account ?? null,
      operations: listChanges(operation),
      window: { start: changedAt - CHANGE_WINDOW_MS, end: changedAt + CHANGE_WINDOW_MS },
    };
    const effects = await listEffects(this.#parts.database.read, filter, EFFECTS_MAX);
    const isOfResource = (effect: { id: string; resource: string }): boolean => {
      const ids = parseResource(effect);
      return Object.entries(params).every(([name, id]) => ids[name] === sanitizeId(id));
    };
    return effects.find(isOfResource)?.user_email ?? null;
  }

  #createEntry(
    { operation, caller, params, requestId, address }: AuditedAction,
    outcome: NewEntry['outcome'],
    owner: Owner | null,
    created: Record<string, string>,
  ): NewEntry {
    const { clock, random } = this.#parts;
    const inPath = Object.entries(params).map(([name, id]) => [name, sanitizeId(id)]);
    const resource: Record<string, string> = {
      ...owner?.resource,
      ...Object.fromEntries(inPath),
      ...created,
    };
    return {
      id: makeId<EntryId>(random, 'entry'),
      created_at: clock.now(),
      account_id: caller?.account ?? owner?.account ?? (created.account_id as AccountId | undefined) ?? null,
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

/** Lists the operations that change the resource of an update: those of its path, and its lock. */
function listChanges({ path }: Operation): string[] {
  const paths: string[] = [path, `${path}/lock`];
  return Object.values(operations)
    .filter((other) => paths.includes(other.path))
    .map(({ id }) => id);
}

/** Removes NUL characters and lone surrogates, which PostgreSQL cannot store, and cuts a long text. */
function sanitizeId(id: string): string {
  return id.slice(0, ID_CHARS_MAX).replaceAll('\0', '').toWellFormed();
}
