/** Shrinks a failing plan to the fewest steps that still break the same promise: delta debugging (Zeller). */
import type { Plan } from '../load/plan.ts';
import type { Step } from '../load/step.ts';
import type { SimulationReport } from '../process/messages.ts';

/** Simulates a plan. */
type Run = (plan: Plan) => Promise<SimulationReport>;

/** A smaller plan with the same failure. */
export interface ShrunkPlan {
  plan: Plan;
  report: SimulationReport;
  /** How many simulations it took. */
  tries: number;
}

/** Removes steps while the plan still breaks `promise`. `width` plans are tried at the same time. */
export async function shrinkPlan(
  plan: Plan,
  first: SimulationReport,
  { run, width, triesMax = 400 }: { run: Run; width: number; triesMax?: number },
): Promise<ShrunkPlan> {
  const promise = first.violations[0]?.promise;
  let best: ShrunkPlan = { plan, report: first, tries: 0 };
  let tries = 0;
  const tryAll = async (candidates: Step[][]): Promise<boolean> => {
    for (let at = 0; at < candidates.length && tries < triesMax; at += width) {
      const group = candidates.slice(at, at + width);
      tries += group.length;
      const reports = await Promise.all(group.map((steps) => run({ ...plan, steps }).catch(() => null)));
      const found = reports.findIndex((report) => report?.violations.some((one) => one.promise === promise));
      const [steps, report] = [group[found], reports[found]];
      if (!steps || !report) continue;
      best = { plan: { ...plan, steps }, report, tries };
      return true;
    }
    return false;
  };
  for (let parts = 2; best.plan.steps.length > 1 && tries < triesMax; ) {
    const { steps } = best.plan;
    const size = Math.ceil(steps.length / parts);
    const without: Step[][] = [];
    for (let at = 0; at < steps.length; at += size) without.push(steps.toSpliced(at, size));
    if (await tryAll(without)) parts = Math.max(2, parts - 1);
    else if (size === 1) break;
    else parts = Math.min(steps.length, parts * 2);
  }
  return { ...best, tries };
}

/** Returns the plan as a test of this folder. */
export function formatTest({ seed, steps }: Plan, promise: string): string {
  const lines = steps.map((step) => `    ${JSON.stringify(step)},`);
  return [
    `test('${promise} (seed ${seed})', async () => {`,
    '  const steps = [',
    ...lines,
    '  ];',
    `  expect(await findViolations({ seed: '${seed}', steps })).toEqual([]);`,
    '});',
  ].join('\n');
}
