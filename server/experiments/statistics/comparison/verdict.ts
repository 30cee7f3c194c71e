/**
 * The verdict of a comparison and the sentences that explain it.
 *
 * An experiment spends its error rate of 5 % in two parts: 1 % on verdicts before its planned end, and 4 % on the verdict at
 * that end. Up to 20 inputs it has no verdict before its end, and spends all of it there. It is a hybrid of sequential and
 * fixed-sample inference, and results declare the split. An experiment that was stopped early has the first kind of verdict
 * only, because the time of a stop may depend on the data. At the planned end:
 *
 * - better, worse: at least ten units and an adjusted p-value of at most that rate. In the same direction, the 95 % interval of
 *   the effect excludes 0, or the failures differ. An indicator without a direction is higher or lower.
 * - equivalent: at least ten units with values, and the whole 95 % interval lies within the margin, also when it is wider
 *   by the differences that ties hide.
 * - same: at least ten units with values, and every one ties. It says how many others may differ, and is no equivalence.
 * - undecided: otherwise.
 *
 * A side that lost more units than the other is neither better nor equivalent, unless it meets a margin for failures.
 */

import { isOneChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import { capitalise, formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  formatEvidence,
  formatExactPercent,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { Interval } from '../bootstrap.ts';
import { explainIndependent } from '../dependence.ts';
import { boundUnseenShare, DIFFERING_MIN, FINAL_ALPHA, VERDICT_UNITS_MIN } from '../error-rates.ts';
import type { Direction } from './effect-scale.ts';
import type { MeasuredInterim } from './interim.ts';

/** better and worse for indicators with a direction, higher and lower for those without. */
export type Verdict = 'better' | 'worse' | 'higher' | 'lower' | 'equivalent' | 'same' | 'undecided';

/** Returns true for a verdict that says which side is better or higher. */
export function hasDirection(verdict: Verdict): boolean {
  return verdict === 'better' || verdict === 'worse' || verdict === 'higher' || verdict === 'lower';
}

/**
 * running: before the planned end. stopped: ended before it, by a decision that may depend on the data. dropped: a race
 * dropped the candidate before it.
 */
export type Progress = 'running' | 'stopped' | 'dropped' | 'complete';

/**
 * The evidence for a verdict. Interval and signs are oriented: positive means that the candidate is worse, or higher
 * for an indicator without a direction.
 */
export interface VerdictEvidence {
  /** Name of one unit in sentences. */
  unit: 'input' | 'unit' | 'original';
  direction: Direction;
  /** Units in which both sides ended, and at least one with a number. */
  usable: number;
  /** Units with a number on both sides. */
  valued: number;
  /** Units that have ended, where some of them do not count; the default is `usable`. */
  ended?: number;
  /** Units that have not ended. */
  pending: number;
  progress: Progress;
  interval: Interval | null;
  test: {
    name: string;
    /** Adjusted for everything the experiment compares; null when there are too few units. */
    p_value: number | null;
    /** Oriented sign of the difference that the test found. */
    sign: number;
    /** Condition that a missing p-value did not meet. */
    needs?: string;
  };
  /** The error rate at the planned end; FINAL_ALPHA by default. */
  final_alpha?: number;
  failures: FailureEvidence | null;
  /** Share of units that the candidate may lose more than the control; null: none. */
  failure_margin: number | null;
  /** Mean of the differences that ties hide, on the scale of the effect; 0 by default. */
  hidden_effect?: number;
  /** Units that tie or differ; absent where units are not pairs. */
  ties?: TieEvidence;
  margin: number;
  /** The margin in words, such as "1 % of the control". */
  margin_text: string;
  /** Null where dependence forbids it. */
  interim: MeasuredInterim | null;
  /** The e-value from which an interim verdict is given. */
  interim_threshold: number;
  /** Reasons for which the comparison cannot have a verdict, whatever its numbers are. */
  blockers: readonly string[];
}

/** Failures of both sides, as far as they allow or forbid a verdict. */
export interface FailureEvidence {
  /** Units that only the candidate lost minus units that only the control lost. */
  excess_units: number;
  /** Failures of the candidate minus failures of the control, in runs or shares of runs. */
  excess_failures: number;
  p_value: number;
  /** Upper bound of the share of units that the candidate loses more. */
  excess_upper: number;
  /** The failures in words: "The candidate failed in 2 inputs that the control solved, ...". */
  text: string;
}

/** How many units differ, and how many may differ among others. */
export interface TieEvidence {
  /** Units with a difference in values or failures. */
  differing: number;
  /** Independent units: clusters, where units depend on each other, and the fewer units of a side of a switchback test. */
  independent: number;
  /** Upper 95 % bound of the share of other units that differ. */
  upper: number;
  /** The declared bound of the change of one unit in words, such as "50 %"; null without one. */
  largest_loss: string | null;
}

/** A verdict with its reasons. */
export interface DecidedVerdict {
  verdict: Verdict;
  reasons: string[];
}

/** Decides by the rules at the head of this file. */
export function decideVerdict(evidence: VerdictEvidence): DecidedVerdict {
  const { unit, usable, blockers, pending, progress, failures } = evidence;
  if (usable === 0)
    return leaveUndecided(
      unit === 'unit'
        ? 'A side has fewer than two units that count and have a value.'
        : `No ${unit} has an outcome on both sides.`,
      ...(failures !== null && failures.excess_failures !== 0 && failures.p_value <= FAILURE_OBJECTION_P_VALUE
        ? [failures.text]
        : []),
    );
  if (blockers.length > 0) return leaveUndecided(...blockers);
  if (usable < VERDICT_UNITS_MIN)
    return leaveUndecided(
      `${formatCount(usable, unit)} ${unit === 'unit' ? 'that count' : 'with an outcome on both sides'}; a verdict needs at least ${VERDICT_UNITS_MIN}.`,
    );
  return pending > 0 || progress !== 'complete' ? decideInterim(evidence) : decideFinal(evidence);
}

function decideInterim(evidence: VerdictEvidence): DecidedVerdict {
  const { interim, interim_threshold, unit, usable } = evidence;
  const progress = describeProgress(evidence);
  if (interim === null || interim.e_value_max < interim_threshold)
    return leaveUndecided(
      progress,
      interim === null
        ? 'This comparison gives no verdict before its end.'
        : `The evidence so far (e-value ${formatEvidence(interim.e_value_max)}) is below the ${formatEvidence(interim_threshold)} that a verdict before the end needs.${unit !== 'unit' && interim.units < usable ? ` It has only the ${formatCount(interim.units, unit)} before the first unfinished one.` : ''}`,
    );
  const sign = interim.direction;
  const objection = findMeanObjection(evidence, interim) ?? findFailureObjection(evidence, sign);
  if (objection !== null) return leaveUndecided(progress, objection);
  return {
    verdict: chooseWord(evidence.direction, sign),
    reasons: [
      progress,
      describeInterimEvidence(evidence, interim),
      'The verdict at the planned end uses all data by another rule, and may be undecided.',
    ],
  };
}

/** Returns the reason why unseen changes against the evidence exclude a verdict; null for `worse`, which delays a release only. */
function findMeanObjection(
  { direction, interim_threshold, unit }: VerdictEvidence,
  { direction: sign, e_value_max, mean_e_value_max, largest_loss }: MeasuredInterim,
): string | null {
  if (mean_e_value_max >= interim_threshold) return null;
  const word = chooseWord(direction, sign);
  if (word === 'worse') return null;
  const rest = direction === 'none' ? 'changes against it' : 'losses';
  return `The typical ${unit} is ${word} (e-value ${formatEvidence(e_value_max)}). Rare ${rest} of up to ${formatExactPercent(largest_loss)} that did not occur may outweigh it: the evidence about the mean has the e-value ${formatEvidence(mean_e_value_max)} of ${formatEvidence(interim_threshold)}.`;
}

function describeInterimEvidence(
  { direction, interim_threshold, unit }: VerdictEvidence,
  { direction: sign, e_value_max, mean_e_value_max, largest_loss }: MeasuredInterim,
): string {
  const threshold = formatEvidence(interim_threshold);
  const evidence = `e-value ${formatEvidence(e_value_max)}`;
  if (mean_e_value_max < interim_threshold)
    return `The typical ${unit} is ${chooseWord(direction, sign)}: its evidence (${evidence}) reached ${threshold}, however often you look. Rare large gains that did not occur may outweigh it.`;
  return `The evidence about the typical ${unit} (${evidence}) and about the mean (${formatEvidence(mean_e_value_max)}) reached ${threshold}, however often you look. It assumes that no ${unit} changes by more than ${formatExactPercent(largest_loss)} the other way.`;
}

function describeProgress({ progress, unit, usable, ended = usable, pending }: VerdictEvidence): string {
  if (progress === 'stopped')
    return `The experiment was stopped before its planned end, with ${formatCount(ended, unit)}.`;
  if (progress === 'dropped')
    return `The race ended this comparison before its planned end, with ${formatCount(ended, unit)}.`;
  return pending > 0
    ? `${ended} of ${formatCount(ended + pending, unit)} have ended.`
    : `The experiment has not reached its planned end; ${formatCount(ended, unit)} ${ended === 1 ? 'has' : 'have'} ended so far.`;
}

function decideFinal(evidence: VerdictEvidence): DecidedVerdict {
  const { test, margin_text, final_alpha = FINAL_ALPHA } = evidence;
  const sign = Math.sign(test.sign);
  const isSignificant = test.p_value !== null && test.p_value <= final_alpha;
  const support = isSignificant ? findSupport(evidence, sign) : null;
  if (support !== null) {
    const reason = `${support} ${formatTest(test, final_alpha)}.`;
    const objection = findFailureObjection(evidence, sign);
    return objection === null
      ? decideDirection(evidence, sign, [reason, ...warnOfNearLimit(test.p_value, final_alpha)])
      : leaveUndecided(reason, objection);
  }
  if (isWithinMargin(evidence)) {
    const objection = findFailureObjection(evidence, -1) ?? findFailureObjection(evidence, 1);
    if (objection === null)
      return {
        verdict: 'equivalent',
        reasons: [
          `The whole 95 % interval of the effect lies within ±${margin_text}.`,
          ...explainUnseenChanges(evidence),
        ],
      };
    return leaveUndecided(`The 95 % interval of the effect lies within ±${margin_text}.`, objection);
  }
  const tie = decideTie(evidence);
  if (tie !== null) return tie;
  return leaveUndecided(...explainUndecided(evidence, isSignificant));
}

/**
 * Says that a p-value near its limit is weak evidence. On some populations that no other sentence covers, 5 to 8 % of equal
 * candidates come below the limit (studies/README.md).
 */
function warnOfNearLimit(p_value: number | null, alpha: number): string[] {
  if (p_value === null || p_value <= alpha / 2) return [];
  return [
    `The p-value is close to its limit of ${alpha}: where effects are skewed, or spread more on one side, up to 8\u00a0% of equal candidates come below it. A new experiment confirms the verdict.`,
  ];
}

/** Says why there is no verdict. Where test and interval disagree about 0, the one that withholds the verdict is first. */
function explainUndecided(evidence: VerdictEvidence, isSignificant: boolean): string[] {
  const { interval, test, margin_text, final_alpha = FINAL_ALPHA } = evidence;
  const tested = `${capitalise(formatTest(test, final_alpha))}.`;
  if (interval === null)
    return [
      evidence.ties === undefined || evidence.valued < VERDICT_UNITS_MIN
        ? 'There are too few values on both sides for an interval.'
        : explainMissingInterval(evidence.ties, evidence.usable, evidence.unit),
      tested,
    ];
  if (isWithinMargin({ ...evidence, hidden_effect: 0 }))
    return [
      `The 95 % interval of the effect reaches beyond ±${margin_text} with the differences that tie_tolerance hides.`,
      tested,
    ];
  const beyond = `reaches beyond ±${margin_text}`;
  if (isSignificant && evidence.failures !== null && excludesZero(interval))
    return [
      'The failures of the two sides and the values of the others point in opposite directions.',
      evidence.failures.text,
    ];
  if (isSignificant)
    return [
      `The 95 % interval of the mean effect decides: it ${excludesZero(interval) ? 'excludes 0 in the other direction' : 'includes 0'} and ${beyond}.`,
      `${tested.slice(0, -1)}, which is not enough by itself.`,
    ];
  if (!excludesZero(interval)) return [`The 95 % interval of the effect includes 0 and ${beyond}.`, tested];
  return [
    `The corrected test decides: ${formatTest(test, final_alpha)}.`,
    `The 95 % interval of this comparison by itself excludes 0 and ${beyond}.`,
  ];
}

/** Says on how many other units the change may be larger than on all that ran, which no interval without a bound knows. */
function explainUnseenChanges({ ties, usable, unit }: VerdictEvidence): string[] {
  if (ties === undefined || ties.largest_loss !== null) return [];
  const share = formatPercent(boundUnseenShare(ties.independent));
  return [`On up to ${share} of other ${unit}s, the change may be larger than on any of these ${usable}.`];
}

/** Decides `same`; null unless at least ten units have values, and all tie by less than the margin. */
function decideTie(evidence: VerdictEvidence): DecidedVerdict | null {
  const { ties, valued, usable, hidden_effect = 0, margin, unit } = evidence;
  if (ties === undefined || ties.differing > 0 || valued < VERDICT_UNITS_MIN || hidden_effect > margin)
    return null;
  const objection = findFailureObjection(evidence, -1) ?? findFailureObjection(evidence, 1);
  const reason = describeAlike('tie', ties, { usable, unit });
  return objection === null ? { verdict: 'same', reasons: [reason] } : leaveUndecided(reason, objection);
}

/** Says on how many others the change may differ when all of these have the same one. */
function describeAlike(
  word: 'tie' | 'change alike',
  { independent, largest_loss }: TieEvidence,
  { usable, unit }: Pick<VerdictEvidence, 'usable' | 'unit'>,
): string {
  const clusters =
    unit !== 'unit' && independent < usable ? `, in ${formatEvidence(independent)} independent groups` : '';
  const amount = largest_loss === null ? 'any amount' : `at most ${largest_loss}`;
  return `All ${formatCount(usable, unit)} ${word}${clusters}; up to ${formatPercent(boundUnseenShare(independent))} of other ${unit}s may differ, by ${amount}.`;
}

function hasEqualChanges({ interval, ties }: VerdictEvidence): boolean {
  return interval !== null && ties !== undefined && isOneChange(interval);
}

/** Says why there is no interval although both sides have values: too few differ, or too few clusters. */
export function explainMissingInterval(
  { differing, independent, upper }: TieEvidence,
  usable: number,
  unit: string,
): string {
  if (differing >= DIFFERING_MIN)
    return 'There are too few independent values on both sides for an interval.';
  const count = differing === 0 ? 'None' : `Only ${differing}`;
  const other = unit === 'unit' ? '' : ', or `largest_loss`';
  const groups = unit === 'unit' ? '' : explainIndependent(usable, independent, unit);
  return `${count} of ${formatCount(usable, unit)} ${differing === 1 ? 'differs' : 'differ'}: an interval needs ${DIFFERING_MIN} that do${other}. Up to ${formatPercent(upper)} of other ${unit}s may differ.${groups}`;
}

function decideDirection(evidence: VerdictEvidence, sign: number, reasons: string[]): DecidedVerdict {
  if (isWithinMargin(evidence))
    reasons.push(`The effect is certain but small: the whole interval lies within ±${evidence.margin_text}.`);
  if (evidence.ties && hasEqualChanges(evidence) && evidence.valued === evidence.usable)
    reasons.push(describeAlike('change alike', evidence.ties, evidence));
  return { verdict: chooseWord(evidence.direction, sign), reasons };
}

/** Returns the start of the reason for a verdict with this sign; null when neither interval nor failures support it. */
function findSupport(
  { interval, failures, final_alpha = FINAL_ALPHA }: VerdictEvidence,
  sign: number,
): string | null {
  if (interval !== null && (sign > 0 ? interval.low > 0 : interval.high < 0))
    return 'The 95 % interval of the effect excludes 0, and';
  if (failures === null || failures.p_value > final_alpha) return null;
  // A candidate that fails less, and is worse where both succeed, is not better. One that fails more is worse in any case.
  if (sign < 0 && interval !== null && interval.low > 0) return null;
  return Math.sign(failures.excess_failures) === sign ? 'The failures of the two sides differ, and' : null;
}

/** p-value from which more failures of one side count as a difference, where repetitions hide it from the units. */
const FAILURE_OBJECTION_P_VALUE = 0.1;

/** Returns the reason why failures exclude a verdict with this sign (-1 favours the candidate); null for none. */
function findFailureObjection(evidence: VerdictEvidence, sign: number): string | null {
  const { failures, failure_margin, direction, unit } = evidence;
  if (failures === null) return null;
  const { excess_units, p_value, excess_upper, text } = failures;
  const excess = excess_units || (p_value <= FAILURE_OBJECTION_P_VALUE ? failures.excess_failures : 0);
  const concernsBoth = direction === 'none';
  if (excess > 0 && (sign < 0 || concernsBoth)) {
    if (failure_margin === null)
      return `${text} ${nameSubject('candidate', direction)} without a margin for failures.`;
    if (excess_upper <= failure_margin) return null;
    return `${text} With 95 % confidence it fails in at most ${formatPercent(excess_upper)} of ${unit === 'unit' ? 'run' : unit}s more, above the margin for failures, ${formatExactPercent(failure_margin)}.`;
  }
  if (excess < 0 && (sign > 0 || concernsBoth)) return `${text} ${nameSubject('control', direction)}.`;
  return null;
}

/** Returns the start of the reason why a side that fails more excludes a verdict. */
function nameSubject(side: 'candidate' | 'control', direction: Direction): string {
  return direction === 'none'
    ? `With a ${side} that fails more there is no verdict`
    : `A ${side} that fails more is neither better nor equivalent`;
}

function isWithinMargin({
  interval,
  margin,
  valued,
  hidden_effect = 0,
}: Pick<VerdictEvidence, 'interval' | 'margin' | 'valued' | 'hidden_effect'>): boolean {
  if (interval === null || valued < VERDICT_UNITS_MIN) return false;
  return interval.low - hidden_effect >= -margin && interval.high + hidden_effect <= margin;
}

function excludesZero({ low, high }: Interval): boolean {
  return low > 0 || high < 0;
}

function chooseWord(direction: Direction, sign: number): Verdict {
  if (direction === 'none') return sign > 0 ? 'higher' : 'lower';
  return sign > 0 ? 'worse' : 'better';
}

function leaveUndecided(...reasons: string[]): DecidedVerdict {
  return { verdict: 'undecided', reasons };
}

function formatTest({ name, p_value, needs }: VerdictEvidence['test'], alpha: number): string {
  if (p_value !== null)
    return `${name} gives an adjusted p-value of ${formatEvidence(p_value)}${p_value > alpha ? `, above ${alpha}` : ''}`;
  return needs === undefined ? `${name} has no p-value` : `${name} needs ${needs}`;
}
