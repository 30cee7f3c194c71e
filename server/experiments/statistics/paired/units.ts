/**
 * Observations become units: the runs of two sides are paired by input, and inputs of the same content are merged. A unit is
 * a distinct content with one effect of the candidate over all of its repetitions.
 *
 * Inputs with the same content are one unit: a caller that sends an input ten times provides one observation, not ten.
 * Counted ten times, they made 50 % of verdicts on equal candidates wrong. The pairs of a unit are averaged before any
 * inference, because repetitions share the peculiarities of the input.
 *
 * A failed run is an outcome, not a missing value (estimand with a composite strategy, ICH E9(R1)). A candidate that fails
 * on its worst inputs must not look better than one that finishes. A run that succeeds without a number for the indicator
 * counts as failed. A canceled or unfinished run contains no information on the app, so the analysis omits its pair.
 */

import type { EffectScale } from '../comparison/effect-scale.ts';
import { computeSortedMean, logOfSum } from '../numbers.ts';
import { compareText, findReportedValue, type Observation, toUsableNumber } from '../observations.ts';

/** The outcome of one run for one indicator: its number, or the reason for its absence. */
export type Outcome = number | 'failed' | 'canceled' | 'pending';

/** The outcomes of one repetition of one input on both sides. */
export interface OutcomePair {
  control: Outcome;
  candidate: Outcome;
}

/** One input with its pairs. */
export interface PairedInput {
  input_id: string;
  pairs: OutcomePair[];
  /** Both sides ran the input, with different repetitions, so it has one pair: the means of both sides. */
  by_means: boolean;
  /** Position of the input in the order of the experiment's plan. */
  position: number;
  /** Last of its randomised blocks; null when a run has none. */
  last_block: number | null;
  /** Hash of the input's content; null when it is unknown, then each input id counts as a content of its own. */
  content: string | null;
  /** Cluster of the input for each clustering, such as `caller` or `day`. */
  clusters: Readonly<Record<string, string>>;
  /** Value of each feature of the input; absent for an input without it. */
  features: Readonly<Record<string, number | string>>;
}

interface LabelledOutcome {
  key: string;
  repetition: string;
  outcome: Outcome;
}

/**
 * Pairs the runs of each input. Returns every input of either side, in the order of the plan.
 *
 * Pairs are by option set and repetition where both sides ran the same ones. Otherwise they are by repetition alone where
 * those are the same: the sides of a scenario test have different option sets. Otherwise they are the means of both sides,
 * with the failures of each.
 */
export function pairOutcomes(
  control: readonly Observation[],
  candidate: readonly Observation[],
  indicator: string,
): PairedInput[] {
  const runs = [
    ...control.map((run) => ({ side: 'control', run })),
    ...candidate.map((run) => ({ side: 'candidate', run })),
  ] as const;
  const formatKey = createInputKeys(runs.map(({ run }) => run));
  const select = (own: readonly (typeof runs)[number][], name: 'control' | 'candidate') =>
    own.flatMap(({ side, run }) => (side === name ? [run] : []));
  return [...Map.groupBy(runs, ({ run }) => formatKey(run)).values()]
    .map((own) =>
      pairInput({ control: select(own, 'control'), candidate: select(own, 'candidate') }, indicator),
    )
    .sort((a, b) => a.position - b.position || compareText(a.input_id, b.input_id));
}

/**
 * Returns the function that tells inputs apart. Two input sets may use one id for different contents, which are different
 * inputs. A run whose content is unknown belongs to the only content of its id, if there is one.
 */
function createInputKeys(runs: readonly Observation[]): (run: Observation) => string {
  const contents = new Map<string, Set<string>>();
  for (const { input_id, content } of runs) {
    const known = contents.get(input_id) ?? new Set();
    contents.set(input_id, content ? known.add(content) : known);
  }
  return ({ input_id, content }) => {
    const known = contents.get(input_id);
    return known === undefined || known.size < 2 ? input_id : JSON.stringify([input_id, content ?? '']);
  };
}

function pairInput(
  sides: { control: Observation[]; candidate: Observation[] },
  indicator: string,
): PairedInput {
  const control = sides.control.map((run) => labelOutcome(run, indicator));
  const candidate = sides.candidate.map((run) => labelOutcome(run, indicator));
  const runs = [...sides.control, ...sides.candidate];
  const pairs =
    pairBy(control, candidate, ({ key }) => key) ??
    pairBy(control, candidate, ({ repetition }) => repetition);
  return {
    input_id: runs[0]?.input_id ?? '',
    pairs: pairs ?? pairByMeans(control, candidate),
    by_means: pairs === null && control.length > 0 && candidate.length > 0,
    position: Math.min(...runs.map((run) => run.position ?? 0)),
    last_block: findLastBlock(runs.map(({ block }) => block ?? null)),
    content: runs.find((run) => run.content)?.content ?? null,
    clusters: Object.assign({}, ...runs.map((run) => run.clusters ?? {})),
    features: Object.assign({}, ...runs.map((run) => run.features ?? {})),
  };
}

/** Returns the largest block; null when one is missing. */
function findLastBlock(blocks: readonly (number | null)[]): number | null {
  const known = blocks.filter((block) => block !== null);
  return known.length < blocks.length ? null : Math.max(...known);
}

function labelOutcome(run: Observation, indicator: string): LabelledOutcome {
  const repetition = `${run.repetition ?? 0}`;
  return {
    key: JSON.stringify([run.option_set ?? '', repetition]),
    repetition,
    outcome: readOutcome(run, indicator),
  };
}

/** Returns the outcome of a run. A run that succeeded without a usable number counts as failed. */
export function readOutcome(run: Observation, indicator: string): Outcome {
  if (run.status === 'succeeded') return toUsableNumber(findReportedValue(run, indicator)) ?? 'failed';
  if (run.status === 'failed') return 'failed';
  return run.status === 'canceled' || run.status === 'deleted' ? 'canceled' : 'pending';
}

function pairBy(
  control: readonly LabelledOutcome[],
  candidate: readonly LabelledOutcome[],
  readLabel: (outcome: LabelledOutcome) => string,
): OutcomePair[] | null {
  const controls = new Map(control.map((one) => [readLabel(one), one.outcome]));
  const candidates = new Map(candidate.map((one) => [readLabel(one), one.outcome]));
  if (controls.size !== control.length || candidates.size !== candidate.length) return null;
  if (controls.size !== candidates.size || ![...controls.keys()].every((label) => candidates.has(label)))
    return null;
  return [...controls.keys()].sort(compareText).map((label) => ({
    control: controls.get(label) ?? 'pending',
    candidate: candidates.get(label) ?? 'pending',
  }));
}

/**
 * Pairs sides that ran different repetitions of an input: one pair of their means, or, where runs have no number, as many
 * pairs as the larger side has runs. Each side then has its shares of failed and canceled runs among them. Without these, a
 * candidate that fails in two of three repetitions would be as good as its third one.
 */
function pairByMeans(
  control: readonly LabelledOutcome[],
  candidate: readonly LabelledOutcome[],
): OutcomePair[] {
  const sides = [control, candidate].map((side) => side.map(({ outcome }) => outcome));
  const count = Math.max(...sides.map((side) => side.length));
  const isNumeric = sides.every((side) => side.every((outcome) => typeof outcome === 'number'));
  const [controls = [], candidates = []] = sides.map((side) => spreadOutcomes(side, isNumeric ? 1 : count));
  return controls.map((outcome, index) => ({ control: outcome, candidate: candidates[index] ?? 'canceled' }));
}

/** Returns `count` outcomes with the shares of the given ones: failures first, and the mean for every number. */
function spreadOutcomes(outcomes: readonly Outcome[], count: number): Outcome[] {
  if (outcomes.includes('pending')) return Array.from({ length: count }, () => 'pending');
  if (outcomes.length === 0) return Array.from({ length: count }, () => 'canceled');
  const numbers = outcomes.filter((outcome) => typeof outcome === 'number').sort((a, b) => a - b);
  const mean = numbers.reduce((total, number) => total + number / numbers.length, 0);
  const countShare = (reason: Outcome) =>
    (count * outcomes.filter((outcome) => outcome === reason).length) / outcomes.length;
  const failed = Math.round(countShare('failed'));
  const canceled = numbers.length === 0 ? count - failed : Math.floor(countShare('canceled'));
  return Array.from({ length: count }, (_, index) =>
    index < failed ? 'failed' : index < failed + canceled ? 'canceled' : mean,
  );
}

/** The numbers of both sides in one pair of runs. */
export interface NumberPair {
  control: number;
  candidate: number;
}

/** One distinct input content. */
export interface PairedUnit {
  input_ids: string[];
  position: number;
  /** Last of its randomised blocks; null when a run has none. */
  last_block: number | null;
  clusters: Readonly<Record<string, string>>;
  features: Readonly<Record<string, number | string>>;
  /** `complete`: all pairs have ended; `pending`: some have not; `canceled`: no pair has an outcome on both sides. */
  state: 'complete' | 'pending' | 'canceled';
  /** Pairs in which both sides ended with a number or a failure. */
  pairs: number;
  control_failed: number;
  candidate_failed: number;
  /** Means over the pairs with a number on both sides; null without such a pair. */
  control: number | null;
  candidate: number | null;
  /** `computeEffect` of the two means; 0 when all pairs tie; null without a pair. */
  effect: number | null;
  /** The pairs with a number on both sides, and the effect of each. */
  pair_values: readonly NumberPair[];
  pair_effects: number[];
  /** Magnitude of the difference that a tie hides, on the scale of the effect; 0 without a tie. */
  hidden_effect: number;
}

/** Returns true if ratios exist: every number plus the shift is above 0. A pair of zeros is a tie on any scale. */
export function hasRatios(inputs: readonly PairedInput[], shift = 0): boolean {
  return inputs.every(({ pairs }) =>
    pairs.every(
      ({ control, candidate }) =>
        (control === 0 && candidate === 0) || [control, candidate].every((one) => isPositive(one, shift)),
    ),
  );
}

function isPositive(outcome: Outcome, shift: number): boolean {
  return typeof outcome !== 'number' || outcome + shift > 0;
}

/** Merges inputs by content and computes the effect of each unit, in the order of the plan. */
export function buildUnits(inputs: readonly PairedInput[], scale: EffectScale): PairedUnit[] {
  const groups = Map.groupBy(inputs, ({ content, input_id }) =>
    content === null ? `input ${input_id}` : `content ${content}`,
  );
  return [...groups.values()].map((group) => buildUnit(group, scale));
}

function buildUnit(group: readonly PairedInput[], scale: EffectScale): PairedUnit {
  const all = group.flatMap(({ pairs }) => pairs);
  const ended = all.filter(({ control, candidate }) => hasEnded(control) && hasEnded(candidate));
  const valued = ended.flatMap(({ control, candidate }) =>
    typeof control === 'number' && typeof candidate === 'number' ? [{ control, candidate }] : [],
  );
  const isPending = all.some(({ control, candidate }) => control === 'pending' || candidate === 'pending');
  return {
    input_ids: group.map(({ input_id }) => input_id),
    position: Math.min(...group.map(({ position }) => position)),
    last_block: findLastBlock(group.map(({ last_block }) => last_block)),
    clusters: group[0]?.clusters ?? {},
    features: group[0]?.features ?? {},
    state: isPending ? 'pending' : ended.length === 0 ? 'canceled' : 'complete',
    pairs: ended.length,
    control_failed: countFailed(ended, 'control'),
    candidate_failed: countFailed(ended, 'candidate'),
    pair_values: valued,
    ...computeUnitEffect(valued, scale),
  };
}

function hasEnded(outcome: Outcome): boolean {
  return typeof outcome === 'number' || outcome === 'failed';
}

function countFailed(pairs: readonly OutcomePair[], side: 'control' | 'candidate'): number {
  return pairs.filter((pair) => pair[side] === 'failed').length;
}

function computeUnitEffect(
  valued: readonly NumberPair[],
  scale: EffectScale,
): Pick<PairedUnit, 'control' | 'candidate' | 'effect' | 'pair_effects' | 'hidden_effect'> {
  if (valued.length === 0)
    return { control: null, candidate: null, effect: null, pair_effects: [], hidden_effect: 0 };
  const control = computeSortedMean(valued.map((pair) => pair.control));
  const candidate = computeSortedMean(valued.map((pair) => pair.candidate));
  const pair_effects = valued.map((pair) => computeEffect(pair.control, pair.candidate, scale));
  const allTie = pair_effects.every((one) => one === 0);
  const effect = allTie ? 0 : computeEffect(control, candidate, scale);
  const exact = computeEffect(control, candidate, { ...scale, tie_tolerance: 0 });
  return { control, candidate, effect, pair_effects, hidden_effect: Math.abs(exact - effect) };
}

/**
 * Returns the effect of a candidate's value against a control's; 0 when they tie. For the relative measure it is
 * ln((candidate + shift) / (control + shift)), for the absolute one the difference times `factor`.
 */
function computeEffect(
  control: number,
  candidate: number,
  { measure, tie_tolerance, shift, factor }: EffectScale,
): number {
  const difference = candidate * factor - control * factor;
  const magnitude = Math.max(Math.abs(control), Math.abs(candidate)) * factor;
  if (Math.abs(difference) <= tie_tolerance * magnitude) return 0;
  return measure === 'relative' ? logOfSum(candidate, shift) - logOfSum(control, shift) : difference;
}
