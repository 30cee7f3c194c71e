/**
 * Many insert-only transactions in one: works that wait at the same time run in one transaction of PostgreSQL, side by
 * side, and their statements are merged. When one of them fails, the transaction is rolled back and each is run again in
 * a transaction of its own, so that it fails alone.
 *
 * Invariant: nobody is answered before the commit of the group. A group whose commit may have arrived is not run again.
 */
import { CompiledQuery, type Kysely } from 'kysely';
import type { Tables, Writer } from '../database.ts';
import { executeDirectly } from '../prepared-statements.ts';
import { MergedStatements, type MultiRowInserts } from './merged-statements.ts';

/** As many rows as an insert has at most. */
const GROUP_TRANSACTIONS_MAX = 32;
/** While one group waits for the disk, the next works. */
const GROUPS_UNDER_WAY_MAX = 2;

/** Returns how to answer its caller once the transaction is committed. */
type Work = (tx: Writer) => Promise<() => void>;

interface Waiting {
  work: Work;
  reject(error: unknown): void;
}

interface Parts {
  db: Kysely<Tables>;
  inserts: MultiRowInserts;
  /** Runs the work in a transaction of its own. */
  transactAlone(work: Work): Promise<() => void>;
  /** Whether the error says that the transaction was rolled back and may be run again. */
  isRetryable(error: unknown): boolean;
}

export class TransactionGroups {
  readonly #parts: Parts;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  transact<T>(work: (tx: Writer) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const respondingWork = async (tx: Writer): Promise<() => void> => {
        const value = await work(tx);
        return () => resolve(value);
      };
      this.#waiting.push({ work: respondingWork, reject });
      this.#schedule();
    });
  }

  /** Requests that came together are still being read; they join before the group begins. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= GROUPS_UNDER_WAY_MAX || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#underWay += 1;
      void this.#run(this.#waiting.splice(0, GROUP_TRANSACTIONS_MAX)).finally(() => {
        this.#underWay -= 1;
        this.#schedule();
      });
      this.#schedule();
    });
  }

  async #run(group: readonly Waiting[]): Promise<void> {
    const { db, inserts } = this.#parts;
    if (group.length > 1) {
      let isCommitting = false;
      try {
        const responses = await db.transaction().execute(async (tx) => {
          const worked = await runTogether(tx, inserts, group);
          isCommitting = true;
          return worked;
        });
        for (const respond of responses) respond();
        return;
      } catch (error) {
        if (isCommitting && !this.#parts.isRetryable(error)) {
          for (const one of group) one.reject(error);
          return;
        }
      }
    }
    await Promise.all(
      group.map(({ work, reject }) => this.#parts.transactAlone(work).then((respond) => respond(), reject)),
    );
  }
}

/** What the works return; throws what the first of them threw that did, once all have ended. */
async function runTogether(
  tx: Writer,
  inserts: MultiRowInserts,
  group: readonly Waiting[],
): Promise<(() => void)[]> {
  // PostgreSQL answers the commit of a transaction in which a statement failed without an error.
  const failures: unknown[] = [];
  const merged = new MergedStatements(inserts, async (sql, parameters) => {
    try {
      return (await tx.executeQuery(CompiledQuery.raw(sql, [...parameters]))).rows;
    } catch (error) {
      failures.push(error);
      throw error;
    }
  });
  executeDirectly(tx, (sql, parameters) => merged.execute(sql, parameters));
  const works = group.map(({ work }) => work(tx));
  await Promise.allSettled(works);
  if (failures.length > 0) throw failures[0];
  return Promise.all(works);
}
