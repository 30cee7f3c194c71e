/**
 * The interface of the database for the rest of the server. Kysely builds each statement for SQLite and for PostgreSQL;
 * only this folder knows which of the two it is.
 *
 * Invariant: `transact` resolves only after the commit is durable, unless the caller passes `durable: false`.
 */
import type { Kysely, Transaction } from 'kysely';

/** The row type of each table. `server/tables.ts` lists them all: the rooms that own the tables stand after this file in the import order. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by server/tables.ts
export interface Tables {}

/** Reads outside a transaction. */
export type Reader = Kysely<Tables>;
/** Reads and writes inside a transaction. A Reader and a Writer accept the same statements. */
export type Writer = Transaction<Tables>;

export interface TransactOptions {
  /**
   * false: do not wait for the disk. For changes that the server repeats after a power cut, such as the claim of a run.
   * The default is true.
   */
  durable?: boolean;
  /**
   * true: the work only inserts rows and locks rows against deletion. It does not read rows that similar works write, and
   * throws every error of a statement. It may share its transaction with others (postgres/transaction-groups.ts).
   */
  insertOnly?: boolean;
}

/** Topics of notifications between processes. A notification has no content: its listener reads the tables again. */
export const TOPICS = [
  'runs-queued',
  'runs-started',
  'runs-canceled',
  'runs-ended',
  'runs-planned',
  'runs-captured',
  'replays-compared',
  'experiments-ended',
  'webhooks-due',
  'webhooks-told',
  'log-lines',
  'flows-changed',
  'slots-released',
  'workers-changed',
  'applications-deleted',
  'experiments-deleted',
  'webhooks-deleted',
  'online-tests-changed',
  'retention-changed',
  'leader-left',
] as const;
export type Topic = (typeof TOPICS)[number];

export interface Database {
  readonly kind: 'sqlite' | 'postgres';
  readonly read: Reader;
  /**
   * Reads rows in the order of an index. Otherwise PostgreSQL reads all rows and sorts them when its statistics say that
   * there are few: a list of a million runs then took 70 times as long. For lists whose statements have such an order.
   */
  readonly readInOrder: Reader;
  /**
   * Runs `work` in a transaction and returns its result after the commit. Throws the error of `work`, after a rollback. May
   * call `work` again after a serialization failure or a deadlock.
   */
  transact<T>(work: (tx: Writer) => Promise<T>, options?: TransactOptions): Promise<T>;
  /**
   * Resolves once everything that a read sees now is on the disk. On SQLite a read sees a commit before its sync has ended. Call
   * it before a response that says what a read has found, where the caller relies on it as on a commit of its own.
   */
  whenDurable(): Promise<void>;
  /** Notifies every process on this database, this one included. Call it after the commit. */
  notify(topic: Topic): void;
  /** Calls back on each notification of the topic, from any process. Returns a function that ends it. */
  listen(topic: Topic, callback: () => void): () => void;
  /** Resolves when the database responds; throws when it does not, or when it is damaged. */
  ping(): Promise<void>;
  /** Waits for the transactions under way, then closes all connections. */
  close(): Promise<void>;
}

/** The listeners of this process, by topic. */
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
