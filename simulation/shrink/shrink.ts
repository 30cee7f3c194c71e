/** Shrinks a failing plan to the fewest steps that still break the same promise: delta debugging (Zeller). */
import type { Plan } from '../load/plan.ts';
import type { Step } from '../load/step.ts';
import type { SimulationReport } from '../process/messages.ts';
import { listSimplerSteps } from './simpler-steps.ts';

/** Simulates a plan. */
type Run = (plan: Plan) => Promise<SimulationReport>;

/** A smaller plan with the same failure. */
export interface ShrunkPlan {
  plan: Plan;
  report: SimulationReport;
  /** How many simulations it took. */
  tries: number;
}

interface ShrinkSettings {
  run: Run;
  /** So many plans are tried at the same time. */
  width: number;
  triesMax?: number;
}

/**
 * A step that is missing changes what all later events draw, so a failure that needs two events in one moment gets lost with
 * any step. Then other seeds for the same steps find the moment again.
 */
const RESEEDS = 4;

/** Removes steps, and then makes their values simpler, while the plan still breaks the promise of the first report. */
export async function shrinkPlan(
  plan: Plan,
  first: SimulationReport,
  settings: ShrinkSettings,
): Promise<ShrunkPlan> {
  const shrinking = new Shrinking(plan, first, settings);
  await shrinking.removeSteps();
  await shrinking.simplifySteps();
  return shrinking.best;
}

class Shrinking {
  readonly #settings: ShrinkSettings;
  readonly #promise: string | undefined;
  readonly #seed: string;
  readonly #triesMax: number;
  #reseeds = 0;
  best: ShrunkPlan;

  constructor(plan: Plan, report: SimulationReport, settings: ShrinkSettings) {
    this.#settings = settings;
    this.#promise = report.violations[0]?.promise;
    this.#seed = plan.seed;
    this.#triesMax = settings.triesMax ?? 400;
    this.best = { plan, report, tries: 0 };
  }

  get #isOver(): boolean {
    return this.best.tries >= this.#triesMax;
  }

  /** Returns true when one of the lists of steps fails too; it is then the best. */
  async #tryAll(candidates: readonly Step[][], reseeds = 0): Promise<boolean> {
    const { seed } = this.best.plan;
    const plans = candidates.flatMap((steps) =>
      reseeds === 0
        ? [{ seed, steps }]
        : Array.from({ length: reseeds }, () => ({ seed: this.#createSeed(), steps })),
    );
    const { run, width } = this.#settings;
    for (let at = 0; at < plans.length && !this.#isOver; at += width) {
      const group = plans.slice(at, at + width);
      this.best.tries += group.length;
      const reports = await Promise.all(group.map((one) => run(one).catch(() => null)));
      const found = reports.findIndex((report) => report?.violations[0]?.promise === this.#promise);
      const [plan, report] = [group[found], reports[found]];
      if (!plan || !report) continue;
      this.best = { plan, report, tries: this.best.tries };
      return true;
    }
    return false;
  }

  #createSeed(): string {
    this.#reseeds += 1;
    return `${this.#seed}.${this.#reseeds}`;
  }

  /** Removes ever smaller parts. Small plans are cheap, so they are tried with more seeds. */
  async removeSteps(): Promise<void> {
    for (let parts = 2; this.best.plan.steps.length > 1 && !this.#isOver; ) {
      const { steps } = this.best.plan;
      const size = Math.ceil(steps.length / parts);
      const without: Step[][] = [];
      for (let at = 0; at < steps.length; at += size) without.push(steps.toSpliced(at, size));
      const isFound =
        (await this.#tryAll(without)) ||
        (await this.#tryAll(without, steps.length > 2 * RESEEDS ? 1 : RESEEDS));
      if (isFound) parts = Math.max(2, parts - 1);
      else if (size === 1) break;
      else parts = Math.min(steps.length, parts * 2);
    }
  }

  /** Makes one value after the other simpler. */
  async simplifySteps(): Promise<void> {
    for (let index = 0; index < this.best.plan.steps.length && !this.#isOver; index += 1) {
      const { steps } = this.best.plan;
      const step = steps[index];
      for (const simpler of step ? listSimplerSteps(step) : [])
        if (await this.#tryAll([this.best.plan.steps.with(index, simpler)])) break;
    }
  }
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
