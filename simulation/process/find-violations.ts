/** Simulates one plan for a test. */
import type { Plan } from '../load/plan.ts';
import type { Violation } from '../model/ledger.ts';
import { SimulatorPool } from './pool.ts';

/** Returns what the plan breaks. */
export async function findViolations(plan: Plan): Promise<Violation[]> {
  const pool = new SimulatorPool({ processes: 1 });
  try {
    return (await pool.run(plan)).violations;
  } finally {
    pool.close();
  }
}
