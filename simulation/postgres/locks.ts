/** What PostgreSQL tells about the locks for which its sessions wait. */
import type { Admin, AdminRow } from './admin.ts';
import type { Backend } from './backend.ts';

/** The locks of one server. */
export class Locks {
  readonly #admin: Admin;

  constructor(admin: Admin) {
    this.#admin = admin;
  }

  #ask(sql: string, values: readonly unknown[]): AdminRow[] {
    return this.#admin.query('postgres', sql, values);
  }

  /** Returns those of the sessions that wait for no lock. */
  findFree(backends: readonly Backend[]): Backend[] {
    const pids = backends.map(({ pid }) => pid);
    const rows = this.#ask(
      'select pid from unnest($1::int[]) as pid where cardinality(pg_blocking_pids(pid)) = 0',
      [pids],
    );
    const free = new Set(rows.map(({ pid }) => Number(pid)));
    return backends.filter(({ pid }) => free.has(pid));
  }

  /** Returns those of the waiting sessions that wait for each other, from one of them; none without a circle. */
  findCycle(from: Backend, waiting: readonly Backend[]): Backend[] {
    const pids = waiting.map(({ pid }) => pid);
    const rows = this.#ask('select pid, pg_blocking_pids(pid) as blockers from unnest($1::int[]) as pid', [
      pids,
    ]);
    const blockers = new Map(rows.map(({ pid, blockers }) => [Number(pid), blockers as number[]]));
    const cycle = findCycle(from.pid, blockers);
    return waiting.filter(({ pid }) => cycle.includes(pid));
  }

  /** Ends the statement of the session. */
  cancel(backend: Backend): void {
    this.#ask('select pg_cancel_backend($1)', [backend.pid]);
  }
}

function findCycle(start: number, blockers: ReadonlyMap<number, readonly number[]>): number[] {
  const search = (pid: number, path: readonly number[]): number[] => {
    if (path.includes(pid)) return pid === start ? [...path] : [];
    for (const next of blockers.get(pid) ?? []) {
      const found = search(next, [...path, pid]);
      if (found.length > 0) return found;
    }
    return [];
  };
  return search(start, []);
}
