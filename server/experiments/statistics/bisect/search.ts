/**
 * The search for the first version of a series that is worse than the good one. It tests the bad version first, then the middle of the remaining ones. Each of the L tests errs with probability
 * (1 - confidence) / L at most, so all of them are right with the confidence (Bonferroni). The posterior of each version is
 * that of a probabilistic bisection (Horstein, IEEE Transactions on Information Theory 1963).
 *
 * A version that cannot be tested is skipped, as by `git bisect skip`: the middle is then that of the other versions. A
 * skipped version never makes more tests necessary, because it only reduces the number of places to tell apart.
 *
 * The search is a function of the runs: it has no state of its own, so a killed server continues where it was.
 */
import {
  countRoundsMin,
  estimateRounds,
  type RoundEffects,
  testWorse,
  type WorseTest,
} from './worse-test.ts';

/** The outcome of a round: every input once with the tested version, with the good one, and perhaps with the bad one. */
export type RoundOutcome =
  | { state: 'pending' }
  | {
      state: 'ended';
      /** The mean effect over the inputs, positive for worse; Infinity for a lost round; null without information. */
      effect: number | null;
      /** The same against the bad version; null where the round does not have it. */
      ahead?: number | null;
    };

export interface SearchSettings {
  /** The versions in the order of their creation, the good one first and the bad one last. */
  versions: readonly string[];
  /** The smallest difference that matters, on the scale of the effects. */
  difference: number;
  confidence: number;
  /** Runs of one round with two versions: two for each input. */
  runsPerRound: number;
  maximumRuns: number;
  /** Runs that were planned so far, with those that were deleted since; the default is the runs of the rounds. */
  plannedRuns?: number;
}

/** The runs of a version in their rounds. */
export interface VersionRounds {
  rounds: readonly RoundOutcome[];
  /** Why the version cannot be tested, in a sentence; null if it can. */
  obstacle: string | null;
}

/** The test of one version. */
export interface SearchStep extends WorseTest {
  version: string;
  /** Why the version was skipped; null for a tested one. */
  obstacle: string | null;
  /** Rounds that were planned, of which some can be pending. */
  planned: number;
  /** Mean of the finite effects; null without any. */
  effect: number | null;
  /** The finite effects that counted. */
  effects: readonly number[];
  /** Rounds in which one side lost more inputs than the other. */
  lost: number;
}

/** Rounds to plan for a version, the first one with the number `from`. */
export interface PlannedRounds {
  version: string;
  from: number;
  count: number;
  /** The bad version, where its runs belong to the rounds too. */
  reference: string | null;
}

export interface SearchResult {
  steps: SearchStep[];
  /** Null: wait for pending runs, or the search has ended. */
  next: PlannedRounds | null;
  /** Null while the search runs. `skipped`: only versions that cannot be tested are left between the last two. */
  ending: 'found' | 'skipped' | 'narrowed' | 'not_worse' | 'undecided' | null;
  /** The last version that is not worse, and the first one that is, as far as they are known. */
  lastGood: string;
  firstBad: string | null;
  /** Probability that a version is the first worse one, by version; empty before the bad version is tested. */
  posterior: Map<string, number>;
  /** About how many runs the rest of the search needs; null when it has found the version. */
  runsNeeded: number | null;
  /** About how many rounds decide on half of the difference, for a bad version that is not worse; null otherwise. */
  roundsForHalf: number | null;
}

/**
 * The search plans one round at a time, because each can decide, or show that a version cannot be compared. From 32 rounds
 * on it plans a sixteenth of those so far: it reads all of them again each time, which a long test would do too often. The
 * test itself looks after every round and stops at the first that decides, so the size of a batch changes no answer.
 */
const ROUNDS_PER_PLANNED_ROUND = 16;

/** Returns the number of tests of a search over these versions: the bad one, then halves. */
export function countTests(versions: number): number {
  return 1 + Math.ceil(Math.log2(Math.max(1, versions - 1)));
}

/**
 * Returns the error of each test: small enough for the confidence of all tests together, and for the posterior of the found
 * version. Every other one of the m versions disagrees with at least one answer, so its weight is at most
 * error / (1 - error) of that of the found one.
 */
function computeErrorRate({ versions, confidence }: SearchSettings): number {
  const others = Math.max(1, versions.length - 2);
  const odds = (1 - confidence) / (confidence * others);
  return Math.min((1 - confidence) / countTests(versions.length), odds / (1 + odds));
}

/** Returns the smallest number of rounds that decides about a version. */
export function countDecidingRounds(settings: SearchSettings): number {
  return countRoundsMin(computeErrorRate(settings));
}

/** Returns the smallest number of runs with which the search can find a version, whose rounds do not need the bad one. */
export function countRunsMin(settings: SearchSettings): number {
  return countTests(settings.versions.length) * countDecidingRounds(settings) * settings.runsPerRound;
}

/** The interval of the search: `low` is not worse, `high` is worse. */
interface Interval {
  low: number;
  high: number;
}

/** Replays the search over the rounds so far, and returns what to do next. */
export function runSearch(
  settings: SearchSettings,
  readVersion: (version: string) => VersionRounds,
): SearchResult {
  const { versions } = settings;
  const replay = new SearchReplay(settings);
  let tested: number | null = versions.length - 1;
  while (tested !== null) {
    const { rounds, obstacle } = readVersion(versions[tested] ?? '');
    const step = replay.test(tested, rounds, obstacle);
    if (step.obstacle === null) {
      if (step.decision === null) return replay.format(continueStep(settings, replay, rounds));
      if (replay.isFirst && step.decision === 'not_worse')
        return { ...replay.format({ ending: 'not_worse' }), roundsForHalf: estimateHalf(settings, step) };
      replay.decide(tested, step);
    }
    tested = replay.findMiddle();
  }
  return replay.format({ ending: replay.isAdjacent ? 'found' : 'skipped' });
}

/** The state of a search while its steps are replayed. */
class SearchReplay {
  readonly steps: SearchStep[] = [];
  readonly #settings: SearchSettings;
  readonly #posterior: Map<string, number>;
  readonly #skipped = new Set<number>();
  #interval: Interval;
  /** true: a version that is not worse must be better than the bad one, which may be worse by less than the difference. */
  comparesBad = false;
  /** false once the bad version is found to be worse. */
  isFirst = true;

  constructor(settings: SearchSettings) {
    const { versions } = settings;
    this.#settings = settings;
    this.#posterior = new Map(versions.slice(1).map((version) => [version, 1 / (versions.length - 1)]));
    this.#interval = { low: 0, high: versions.length - 1 };
  }

  get isAdjacent(): boolean {
    return this.#interval.high - this.#interval.low === 1;
  }

  /** Adds the step of a version. The bad version cannot be skipped, because every answer relies on it. */
  test(tested: number, rounds: readonly RoundOutcome[], obstacle: string | null): SearchStep {
    const { versions } = this.#settings;
    const step = testVersion(this.#settings, versions[tested] ?? '', {
      rounds,
      comparesBad: this.comparesBad,
    });
    const isSkipped = obstacle !== null && !this.isFirst;
    if (isSkipped) this.#skipped.add(tested);
    const added = isSkipped ? { ...step, decision: null, obstacle } : step;
    this.steps.push(added);
    return added;
  }

  decide(tested: number, { decision, beyond_e_value }: SearchStep): void {
    const { versions } = this.#settings;
    const errorRate = computeErrorRate(this.#settings);
    // A bad version that is worse by less cannot be found good by mistake, so its error is left for this conclusion.
    if (this.isFirst) this.comparesBad = beyond_e_value < 1 / errorRate;
    else updatePosterior(this.#posterior, versions.slice(1, tested + 1), { decision }, errorRate);
    this.isFirst = false;
    if (decision === 'worse') this.#interval.high = tested;
    else this.#interval.low = tested;
  }

  /**
   * Returns the middle of the versions that are left and not skipped; null without any. It depends on the skipped versions
   * so far alone, so a version that is skipped later does not change the steps before it.
   */
  findMiddle(): number | null {
    const { low, high } = this.#interval;
    const left = Array.from({ length: high - low + 1 }, (_, index) => low + index).filter(
      (index) => !this.#skipped.has(index),
    );
    return left.length === 2 ? null : (left[Math.floor((left.length - 1) / 2)] ?? null);
  }

  format(
    state: Pick<SearchResult, 'ending'> & Partial<Pick<SearchResult, 'next' | 'runsNeeded'>>,
  ): SearchResult {
    const { versions } = this.#settings;
    const { low, high } = this.#interval;
    return {
      next: null,
      runsNeeded: null,
      roundsForHalf: null,
      ...state,
      steps: this.steps,
      lastGood: versions[low] ?? '',
      firstBad: this.isFirst ? null : (versions[high] ?? null),
      posterior: this.isFirst ? new Map() : this.#posterior,
    };
  }
}

function testVersion(
  settings: SearchSettings,
  version: string,
  { rounds, comparesBad }: { rounds: readonly RoundOutcome[]; comparesBad: boolean },
): SearchStep {
  const ended: RoundEffects[] = [];
  for (const round of rounds) {
    if (round.state === 'pending') break;
    const { effect, ahead = null } = round;
    if (effect !== null) ended.push({ effect, ahead });
  }
  const { difference } = settings;
  const test = testWorse(ended, { difference, comparesBad }, computeErrorRate(settings));
  const finite = ended
    .slice(0, test.rounds)
    .map(({ effect }) => effect)
    .filter(Number.isFinite);
  return {
    ...test,
    version,
    obstacle: null,
    planned: rounds.length,
    effect: finite.length === 0 ? null : computeMean(finite),
    effects: finite,
    lost: test.rounds - finite.length,
  };
}

const computeMean = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value / values.length, 0);

function computeDeviation(values: readonly number[]): number {
  const mean = computeMean(values);
  return Math.sqrt(computeMean(values.map((value) => (value - mean) ** 2)));
}

/** Horstein's update: the versions on the side of the answer keep 1 - error of their weight, the others keep the error. */
function updatePosterior(
  posterior: Map<string, number>,
  upToTested: readonly string[],
  { decision }: Pick<SearchStep, 'decision'>,
  errorRate: number,
): void {
  const before = new Set(upToTested);
  let total = 0;
  for (const [version, probability] of posterior) {
    // A worse version means that the first worse one is this one or an earlier one.
    const agrees = before.has(version) === (decision === 'worse');
    const updated = probability * (agrees ? 1 - errorRate : errorRate);
    posterior.set(version, updated);
    total += updated;
  }
  for (const [version, probability] of posterior) posterior.set(version, probability / total);
}

/** Waits for pending rounds, plans further ones, or ends a search that has no runs left. */
function continueStep(
  settings: SearchSettings,
  { steps, comparesBad }: Pick<SearchReplay, 'steps' | 'comparesBad'>,
  rounds: readonly RoundOutcome[],
): Pick<SearchResult, 'next' | 'ending' | 'runsNeeded'> {
  const { maximumRuns, versions, plannedRuns = 0 } = settings;
  const step = steps[steps.length - 1];
  const tests = steps.filter(({ obstacle }) => obstacle === null).length;
  // The first step tests the bad version itself; the later ones run it too where that decides.
  const runsPerRound = settings.runsPerRound * (comparesBad ? 1.5 : 1);
  const remaining = countTests(versions.length) - tests;
  const runsNeeded = step ? runsPerRound * estimateLeftRounds(settings, step, remaining) : null;
  if (!step || rounds.some(({ state }) => state === 'pending'))
    return { next: null, ending: null, runsNeeded };
  const used = steps.reduce(
    (total, { planned }, index) => total + planned * (index === 0 ? settings.runsPerRound : runsPerRound),
    0,
  );
  const affordable = Math.floor((maximumRuns - Math.max(used, plannedRuns)) / runsPerRound);
  const wanted = Math.max(1, Math.floor(rounds.length / ROUNDS_PER_PLANNED_ROUND));
  const count = Math.min(wanted, affordable);
  if (count <= 0) return { next: null, ending: tests === 1 ? 'undecided' : 'narrowed', runsNeeded };
  const reference = comparesBad ? (versions[versions.length - 1] ?? null) : null;
  const next = { version: step.version, from: rounds.length, count, reference };
  return { next, ending: null, runsNeeded };
}

/** Assumes that the versions differ by 0 or by the whole difference. */
function estimateLeftRounds(settings: SearchSettings, step: SearchStep, remainingTests: number): number {
  const { difference } = settings;
  const rounds = estimateRounds(computeErrorRate(settings), assumeDeviation(step, difference), difference);
  return Math.max(1, rounds - step.rounds) + Math.max(0, remainingTests) * rounds;
}

/** Two effects are the fewest with a spread; before them, the noise is assumed to be as large as the distance. */
function assumeDeviation({ effects }: SearchStep, distance: number): number {
  return effects.length < 2 ? distance : computeDeviation(effects);
}

function estimateHalf(settings: SearchSettings, step: SearchStep): number {
  const half = settings.difference / 2;
  return estimateRounds(computeErrorRate(settings), assumeDeviation(step, half), half);
}
