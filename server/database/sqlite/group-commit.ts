/**
 * Many transactions in one: what is asked for in one turn of the event loop is done in one transaction of SQLite, each
 * in a savepoint of its own, so that one that fails takes back only its own. A commit writes every page it touched to the
 * WAL; in a group the pages of indexes and of the ends of tables are written once for all.
 *
 * What must stay true: nobody is answered before the commit of the group, nor, who asked for it, before the sync that
 * follows it; the works of a group run one after the other, each seeing what the ones before it did.
 */
import type { Kysely } from 'kysely';
import type { Tables, Writer } from '../database.ts';
import type { GroupFlush } from './group-flush.ts';

/** Keeps the wait of the first in a group, and what readers see late, within some milliseconds. */
const GROUP_TRANSACTIONS_MAX = 64;

interface Waiting {
  work(tx: Writer): Promise<unknown>;
  durable: boolean;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface GroupCommitParts {
  /** On a connection that nobody else uses. */
  db: Kysely<Tables>;
  /** Runs a statement without parameters on the same connection, at once. */
  executeControl(statement: string): void;
  inTransaction(): boolean;
  flush: GroupFlush;
  /** Called after each commit, before anybody is answered. */
  onCommit(): void;
  /** Asked after each group: what it answers is waited for before the next. */
  waitForCheckpoint(): Promise<void> | null;
}

export class GroupCommit {
  readonly #parts: GroupCommitParts;
  /** Statements go to the connection, which is in the transaction; that Kysely did not begin it costs less. */
  readonly #tx: Writer;
  #waiting: Waiting[] = [];
  #working: Promise<void> | null = null;

  constructor(parts: GroupCommitParts) {
    this.#parts = parts;
    this.#tx = parts.db as unknown as Writer;
  }

  transact<T>(work: (tx: Writer) => Promise<T>, durable: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, durable, resolve: (value) => resolve(value as T), reject });
      this.#working ??= this.#workOff();
    });
  }

  /** Resolves when nothing is waiting or under way. */
  async whenIdle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #workOff(): Promise<void> {
    // Requests that came with this one are still being read; they join before the group begins.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      await this.#commit(this.#waiting.splice(0, GROUP_TRANSACTIONS_MAX));
      await this.#parts.waitForCheckpoint();
    }
    this.#working = null;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const succeeded: { one: Waiting; value: unknown }[] = [];
    const failed: { one: Waiting; error: unknown }[] = [];
    const { executeControl: control, flush, onCommit } = this.#parts;
    try {
      // The write lock is taken here. Taken later, at the first write, it is refused at once when a checkpoint has started
      // the WAL again in between: "database is locked", seen under load a few times a minute.
      control('begin immediate');
      try {
        for (const one of group) {
          control('savepoint work');
          try {
            const value = await one.work(this.#tx);
            control('release work');
            succeeded.push({ one, value });
          } catch (error) {
            failed.push({ one, error });
            control('rollback to work');
            control('release work');
          }
        }
        control('commit');
        onCommit();
      } catch (error) {
        if (this.#parts.inTransaction()) control('rollback');
        throw error;
      }
    } catch (error) {
      // A full disk ends the whole transaction: nothing of it was kept.
      for (const one of group) one.reject(failed.find((other) => other.one === one)?.error ?? error);
      return;
    }
    for (const { one, error } of failed) one.reject(error);
    const durable = succeeded.filter(({ one }) => one.durable);
    for (const { one, value } of succeeded) if (!one.durable) one.resolve(value);
    if (durable.length === 0) return;
    // Not awaited: the next group may work while the disk does.
    flush.flush().then(
      () => {
        for (const { one, value } of durable) one.resolve(value);
      },
      (error: unknown) => {
        for (const { one } of durable) one.reject(error);
      },
    );
  }
}
