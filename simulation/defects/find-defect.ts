/** Looks for a planted defect, seed by seed, and shrinks the plan that finds it. */
import { type DatabaseKind, drawPlan, type Plan } from '../load/plan.ts';
import type { SimulationReport } from '../process/messages.ts';
import { SimulatorPool } from '../process/pool.ts';
import { shrinkPlan } from '../shrink/shrink.ts';
import type { PlantedDefect } from './planted.ts';

/** How a defect was found. */
export interface Finding {
  name: string;
  /** null: no seed found it. */
  plan: Plan | null;
  promise: string;
  seeds: number;
  stepsBefore: number;
  /** Milliseconds of processor time until the first failure, of all processes. */
  processorMs: number;
  isReplayed: boolean;
  /** The same plan breaks nothing without the defect. */
  isCleanWithout: boolean;
}

interface FindSettings {
  seedsMax: number;
  processes?: number;
  /** SQLite by default. */
  database?: DatabaseKind;
  /** Simulations for the shrinking; 0: none. */
  triesMax: number;
}

/** Simulates seeds with the defect until one fails. */
export async function findDefect(
  { name, patches, step: needed }: PlantedDefect,
  { seedsMax, processes, triesMax, database = 'sqlite' }: FindSettings,
): Promise<Finding> {
  const pool = new SimulatorPool({ patches, database, ...(processes === undefined ? {} : { processes }) });
  const run = (plan: Plan): Promise<SimulationReport> => pool.run(plan);
  let seeds = 0;
  let processorMs = 0;
  const found: { plan: Plan; report: SimulationReport }[] = [];
  const work = async (): Promise<void> => {
    while (seeds < seedsMax && found.length === 0) {
      seeds += 1;
      const plan = drawPlan(String(seeds), database);
      if (needed !== undefined && !plan.steps.some((step) => step.do === needed)) continue;
      const report = await run(plan);
      processorMs += report.processorMs;
      if (report.violations.length > 0) found.push({ plan, report });
    }
  };
  const whole = new SimulatorPool({ database, processes: 1 });
  try {
    await Promise.all(Array.from({ length: pool.size }, work));
    const [first] = found;
    const none = {
      name,
      plan: null,
      promise: '',
      seeds,
      stepsBefore: 0,
      processorMs,
      isReplayed: false,
      isCleanWithout: false,
    };
    if (!first) return none;
    const shrunk = await shrinkPlan(first.plan, first.report, { run, width: pool.size, triesMax });
    const replayed = await run(shrunk.plan);
    const without = await Promise.all([whole.run(first.plan), whole.run(shrunk.plan)]);
    return {
      ...{ name, plan: shrunk.plan, seeds, processorMs },
      promise: first.report.violations[0]?.promise ?? '',
      stepsBefore: first.plan.steps.length,
      isReplayed: replayed.trace === shrunk.report.trace,
      isCleanWithout: without.every(({ violations }) => violations.length === 0),
    };
  } finally {
    pool.close();
    whole.close();
  }
}

/** Returns the findings as a table. */
export function formatFindings(findings: readonly Finding[]): string {
  const rows = findings.map((one) => [
    one.name,
    one.plan ? one.plan.seed : `none of ${one.seeds}`,
    one.plan ? `${one.stepsBefore} → ${one.plan.steps.length}` : '',
    `${Math.round(one.processorMs / 100) / 10} s`,
    one.promise,
    one.plan && !one.isReplayed ? 'not replayed' : '',
    one.plan && !one.isCleanWithout ? 'fails without the defect too' : '',
  ]);
  const lines = [['defect', 'seed', 'steps', 'processor time', 'broken promise', ''], ...rows];
  return lines.map((cells) => cells.join(' | ')).join('\n');
}
