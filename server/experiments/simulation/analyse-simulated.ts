/** The verdicts that the product gives on simulated experiments. */

import { Resampler } from '../statistics/bootstrap.ts';
import { compareFamily, type FamilyDesign, type FamilyIndicator } from '../statistics/paired/family.ts';
import type { Verdict } from '../statistics/paired/verdict.ts';
import { RandomGenerator } from '../statistics/random-generator.ts';
import type { SwitchbackDesign } from '../statistics/switchback/design.ts';
import { compareSwitchbackFamily } from '../statistics/switchback/family.ts';
import {
  drawPairedRuns,
  INDICATOR,
  type PairedPopulation,
  type SimulatedRuns,
} from './paired-populations.ts';
import { drawSwitchbackTest, type SwitchbackPopulation } from './switchback-populations.ts';

/** Share of experiments with each verdict. */
export type VerdictShares = Record<Verdict, number>;

/** Settings of the indicator in every simulation, unless a cell says otherwise: less is better, 1 % is equivalent. */
const MINIMIZE: FamilyIndicator = {
  indicator: INDICATOR,
  value_type: 'number',
  role: 'primary',
  direction: 'minimize',
  measure: 'auto',
  margin: { type: 'relative', value: 0.01 },
  tie_tolerance: 1e-9,
  shift: 0,
  failure_margin: null,
};

/** Fewer resamples and draws than the product uses: the level stays the same, a table takes minutes instead of hours. */
const RESAMPLES = 399;
const DRAWS = 799;

/** A batch, or a shadow test with its dependence over time and between callers. */
export type PairedKind = 'batch' | 'shadow';

/** Builds the design that the product uses for a kind of experiment. */
function buildPairedDesign(kind: PairedKind, seed: string): FamilyDesign {
  return {
    unit: kind === 'batch' ? 'input' : 'original',
    serial: kind === 'shadow',
    clusterings: kind === 'shadow' ? ['caller'] : [],
    progress: 'complete',
    listIndicatorBlockers: () => [],
    resampler: new Resampler({ seed, resamples: RESAMPLES }),
  };
}

/** Returns the verdict on one simulated experiment. */
function decidePairedVerdict(runs: SimulatedRuns, kind: PairedKind, seed: string): Verdict {
  const [[comparison] = []] = compareFamily([runs], [MINIMIZE], buildPairedDesign(kind, seed));
  return comparison?.verdict ?? 'undecided';
}

/** Returns the verdict shares of a paired population over so many experiments, each with its own seed. */
export function simulatePaired(
  population: PairedPopulation,
  { inputs, repetitions = 1, kind = 'batch' }: { inputs: number; repetitions?: number; kind?: PairedKind },
  experiments: number,
): VerdictShares {
  return countVerdicts(experiments, (seed) => {
    const runs = drawPairedRuns(population, { inputs, repetitions }, new RandomGenerator(seed));
    return decidePairedVerdict(runs, kind, seed);
  });
}

/** Returns the verdict shares of a switchback population. */
export function simulateSwitchback(
  population: SwitchbackPopulation,
  design: SwitchbackDesign,
  experiments: number,
): VerdictShares {
  return countVerdicts(experiments, (seed) => {
    const plan = drawSwitchbackTest(population, design, new RandomGenerator(seed));
    const [comparison] = compareSwitchbackFamily(
      {
        plan,
        design,
        burnInMinutes: 0,
        control_instance_id: 'control',
        candidate_instance_id: 'candidate',
        progress: 'complete',
        seed,
        draws: DRAWS,
      },
      [MINIMIZE],
    );
    return comparison?.verdict ?? 'undecided';
  });
}

/** Returns the shares of the verdicts over so many experiments. */
function countVerdicts(experiments: number, readVerdict: (seed: string) => Verdict): VerdictShares {
  const shares: VerdictShares = { better: 0, worse: 0, higher: 0, lower: 0, equivalent: 0, undecided: 0 };
  for (let experiment = 0; experiment < experiments; experiment += 1)
    shares[readVerdict(`experiment ${experiment}`)] += 1 / experiments;
  return shares;
}

/** Returns the share of experiments with at least one wrong verdict when `candidates` equal candidates report `indicators` each. */
export function simulateFamily(
  { candidates, indicators, inputs }: { candidates: number; indicators: number; inputs: number },
  experiments: number,
): number {
  let wrong = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    const generator = new RandomGenerator(`family ${experiment}`);
    const names = Array.from({ length: indicators }, (_, index) => `${INDICATOR}.${index}`);
    const draws = names.map(() =>
      Array.from({ length: candidates }, () => drawPairedRuns({}, { inputs, repetitions: 1 }, generator)),
    );
    const merge = (side: 'control' | 'candidate', candidate: number) =>
      (draws[0]?.[candidate]?.[side] ?? []).map((run, at) => ({
        ...run,
        indicators: names.map((name, index) => ({
          name,
          value: draws[index]?.[side === 'control' ? 0 : candidate]?.[side][at]?.indicators[0]?.value,
        })),
      }));
    const groups = Array.from({ length: candidates }, (_, candidate) => ({
      control: merge('control', candidate),
      candidate: merge('candidate', candidate),
    }));
    const settings = names.map((indicator) => ({ ...MINIMIZE, indicator }));
    const verdicts = compareFamily(groups, settings, buildPairedDesign('batch', `${experiment}`)).flat();
    if (verdicts.some(({ verdict }) => verdict === 'better' || verdict === 'worse')) wrong += 1;
  }
  return wrong / experiments;
}

/** Share of experiments with a wrong verdict at any look, when someone reads the result after every `step` inputs. */
export function simulateLooks(
  population: PairedPopulation,
  { inputs, step, kind }: { inputs: number; step: number; kind: PairedKind },
  experiments: number,
): number {
  let wrong = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    const seed = `look ${experiment}`;
    const runs = drawPairedRuns(population, { inputs, repetitions: 1 }, new RandomGenerator(seed));
    const isWrongAt = (ended: number) => {
      const hide = (run: SimulatedRuns['control'][number]) =>
        (run.position ?? 0) < ended ? run : { ...run, status: 'running' };
      const seen = { control: runs.control.map(hide), candidate: runs.candidate.map(hide) };
      const verdict = decidePairedVerdict(seen, kind, seed);
      return verdict === 'better' || verdict === 'worse';
    };
    for (let ended = step; ended <= inputs; ended += step)
      if (isWrongAt(ended)) {
        wrong += 1;
        break;
      }
  }
  return wrong / experiments;
}
