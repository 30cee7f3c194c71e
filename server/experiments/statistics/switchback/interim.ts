/**
 * Increments of a switchback test for verdicts while it runs. Each coin of the plan gives one: the difference that its two
 * blocks show, with the sign that the coin gave it. Under the null hypothesis the difference is fixed and the sign is a fair
 * coin. So the test martingale of the paired tests applies by design (Ham, Bojinov, Lindon and Tingley 2022).
 *
 * Only units that are counted whatever the neighbouring coins say count. A single block (no pair) is compared with the mean
 * of the earlier units at the same time of the day.
 */
import type { Interval } from '../bootstrap.ts';
import type { Measure } from '../comparison/effect-scale.ts';
import {
  type BetUnit,
  type MeasuredInterim,
  measureInterim,
  runTestMartingale,
  searchInterval,
} from '../comparison/interim.ts';
import { mean } from '../numbers.ts';
import { listCoins, type SwitchbackDesign } from './design.ts';

/** The units of a plan that have ended: their sides, and the outcomes of those that have one. */
export interface EndedUnits {
  assignment: Uint8Array;
  outcomes: ReadonlyMap<number, number>;
  endedUnits: number;
}

/** Lists one increment for each coin whose units have all ended, in the order in which they ended. */
export function listIncrements(
  design: SwitchbackDesign,
  assignment: Uint8Array,
  outcomes: ReadonlyMap<number, number>,
  endedUnits: number,
): number[] {
  return listBetUnits(design, assignment, outcomes, endedUnits).map(({ effect }) => effect);
}

/** Lists the increments as effects, each with the largest magnitude of the outcomes that it compares. */
function listBetUnits(
  design: SwitchbackDesign,
  assignment: Uint8Array,
  outcomes: ReadonlyMap<number, number>,
  endedUnits: number,
): BetUnit[] {
  const known = (block: readonly number[]): number[] =>
    block.slice(design.carryOverUnits).flatMap((unit) => outcomes.get(unit) ?? []);
  const increments = listCoins(design).flatMap(({ first, second }) => {
    const last = Math.max(...first, ...second);
    if (last >= endedUnits) return [];
    const sign = assignment[first[0] ?? 0] ? 1 : -1;
    const values = known(first);
    const others = second.length > 0 ? known(second) : earlierUnits(design, first, outcomes);
    return values.length === 0 || others.length === 0
      ? []
      : [
          {
            last,
            effect: sign * (mean(values) - mean(others)),
            magnitude: Math.max(...values.map(Math.abs), ...others.map(Math.abs)),
          },
        ];
  });
  return increments.sort((a, b) => a.last - b.last);
}

/**
 * Returns the confidence sequence of a constant effect: the effects that the evidence of the ended units does not exclude at
 * `threshold`. Without such an effect, the outcomes of the candidate's units are those of the null hypothesis. Increments are
 * linear in the outcomes, so those of the sides say how an effect changes them. Null before ten increments.
 */
export function computeEffectSequence(
  design: SwitchbackDesign,
  { assignment, outcomes, endedUnits }: EndedUnits,
  threshold: number,
): Interval | null {
  const sides = new Map([...outcomes.keys()].map((unit) => [unit, assignment[unit] ?? 0]));
  const increments = listIncrements(design, assignment, outcomes, endedUnits);
  const slopes = listIncrements(design, assignment, sides, endedUnits);
  const remove = (effect: number) =>
    increments.map((increment, index) => increment - effect * (slopes[index] ?? 0));
  const squares = slopes.reduce((total, slope) => total + slope * slope, 0);
  const centre =
    squares === 0
      ? 0
      : increments.reduce(
          (total, increment, index) => total + (increment * (slopes[index] ?? 0)) / squares,
          0,
        );
  const rest = remove(centre).reduce((total, increment) => total + increment * increment, 0);
  const error = Math.sqrt(rest / Math.max(1, increments.length) / squares);
  return searchInterval({ units: increments.length, centre, error }, (effect) => {
    return runTestMartingale(remove(effect), { serial: false }).e_value >= threshold;
  });
}

const DAY_MINUTES = 24 * 60;

/** Outcomes of earlier units at the same time of the day; of all earlier units where there are none. */
function earlierUnits(
  { unitMinutes }: SwitchbackDesign,
  block: readonly number[],
  outcomes: ReadonlyMap<number, number>,
): number[] {
  const start = block[0] ?? 0;
  const timeOfDay = (unit: number) =>
    Math.floor(((unit * unitMinutes) % DAY_MINUTES) / Math.max(60, unitMinutes));
  const earlier = [...outcomes].filter(([unit]) => unit < start);
  const alike = earlier.filter(([unit]) => timeOfDay(unit) === timeOfDay(start));
  return (alike.length > 0 ? alike : earlier).map(([, value]) => value);
}

/** Returns the evidence of the ended units for a verdict before the end; the outcomes are on the scale of the effect. */
export function measureIncrements(
  design: SwitchbackDesign,
  { assignment, outcomes, endedUnits }: EndedUnits,
  { measure, orientation }: { measure: Measure; orientation: 1 | -1 },
): MeasuredInterim {
  const units = listBetUnits(design, assignment, outcomes, endedUnits).map((unit) => ({
    ...unit,
    effect: unit.effect * orientation,
  }));
  return measureInterim(units, { measure, orientation, serial: false });
}
