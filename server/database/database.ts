/**
 * What the rest of the server knows of the database. Statements are written once, with Kysely, for SQLite and
 * PostgreSQL; only this folder knows which of the two it is.
 *
 * What must stay true: `transact` resolves only after the commit is durable, unless the caller says it need not be.
 */
import type { Kysely, Transaction } from 'kysely';

/**
 * The tables. Every slice adds its own from its `schema.ts` by declaration merging, so that a table's type stands where
 * its statements are.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the slices through declaration merging
export interface Tables {}

/** Reads outside a transaction. */
export type Reader = Kysely<Tables>;
/** Reads and writes inside a transaction. A Reader and a Writer take the same statements. */
export type Writer = Transaction<Tables>;

export interface TransactOptions {
  /**
   * false: do not wait for the disk. For changes that are made again by themselves when a power cut takes them back,
   * such as the claim of a run.
   */
  durable?: boolean;
  /**
   * true: the work only inserts rows and locks rows against deletion, decides nothing by rows that others like it write, and
   * passes every error of a statement on. It may share its transaction with others (postgres/transaction-groups.ts).
   */
  insertOnly?: boolean;
}

/** What processes tell each other without saying more: look again. */
export const TOPICS = [
  'runs-queued',
  'runs-canceled',
  'runs-ended',
  'runs-planned',
  'runs-captured',
  'experiments-ended',
  'webhooks-due',
  'webhooks-told',
  'log-lines',
  'workers-changed',
] as const;
export type Topic = (typeof TOPICS)[number];

export interface Database {
  readonly kind: 'sqlite' | 'postgres';
  readonly read: Reader;
  /** `work` may be called again after the database rolled it back for the sake of another transaction. */
  transact<T>(work: (tx: Writer) => Promise<T>, options?: TransactOptions): Promise<T>;
  /** Tells every process on this database, this one included, that there is news. Call it after the commit. */
  notify(topic: Topic): void;
  /** Calls back on news of the topic, from whichever process. Returns how to stop. */
  listen(topic: Topic, callback: () => void): () => void;
  /** Whether the database answers; throws when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Listeners by topic, in this process. */
export class TopicListeners {
  readonly #listeners = new Map<string, Set<() => void>>();

  listen(topic: string, callback: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(callback));
    return () => listeners.delete(callback);
  }

  notify(topic: string): void {
    for (const callback of this.#listeners.get(topic) ?? []) callback();
  }
}
