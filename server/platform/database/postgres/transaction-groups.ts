/**
 * Runs many insert-only works in one transaction of PostgreSQL, concurrently and with merged statements. When one of them
 * fails, the transaction is rolled back. Each work then runs again in a transaction of its own, so that only the failing
 * work fails.
 *
 * Invariant: no caller gets a result before the commit of the group. A group whose commit may have succeeded never runs
 * again.
 */
import { CompiledQuery, type Kysely } from 'kysely';
import type { Tables, Writer } from '../database.ts';
import { executeDirectly } from '../prepared-statements.ts';
import { MergedStatements, type MultiRowInserts } from './merged-statements.ts';

/** The largest number of rows of a merged insert (merged-statements.ts). */
const GROUP_TRANSACTIONS_MAX = 32;
/** While one group waits for the disk, the next one executes. */
const GROUPS_UNDER_WAY_MAX = 2;

/** Returns the function that resolves the caller's promise after the commit. */
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
  /** Reports whether the database rolled the transaction back and it may run again. */
  isRetryable(error: unknown): boolean;
}

/** Collects insert-only works and runs them in groups. */
export class TransactionGroups {
  readonly #parts: Parts;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the result of the work after the commit of its group. Throws the error of the work. */
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

  /** Waits one turn of the event loop: the server is still reading requests that arrived with this one, and they join. */
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

/** Returns the results of the works. Throws the first error of a statement or work, after all works have ended. */
async function runTogether(
  tx: Writer,
  inserts: MultiRowInserts,
  group: readonly Waiting[],
): Promise<(() => void)[]> {
  // PostgreSQL reports no error for the commit of a transaction in which a statement failed: it rolls back.
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
