/**
 * Collects the runs of a search by version and round. A run of a step has the tested version as its scenario and the round
 * as its repetition; its own version is the tested, the good or the bad one.
 */
import { parseLabels } from '../../runs/run-columns.ts';
import type { PlannedRunsTable } from '../../runs/store/schema.ts';
import { parseObservation, type RawObservation } from '../results/run-reader.ts';
import { computeRoundEffect, type RoundScale } from '../statistics/bisect/effects.ts';
import type { RoundOutcome, VersionRounds } from '../statistics/bisect/search.ts';
import { type Outcome, type OutcomePair, readOutcome } from '../statistics/paired/units.ts';
import { explainLostPairs } from '../statistics/paired/warnings.ts';
import type { BisectDefinition } from '../store/bisect-definition.ts';

/** The outcomes of one input in one round. */
interface InputOutcomes {
  control?: Outcome;
  candidate?: Outcome;
  /** Of the bad version, where the round compares with it. */
  reference?: Outcome;
}

/** The runs of a version by their end. */
interface RunTally {
  /** Runs with a number for the indicator. */
  reported: number;
  failed: number;
  /** Runs that succeeded without a number. */
  unreported: number;
  /** Runs that the server did not create. */
  refused: number;
  pending: number;
}

/** Collects runs, lists the rounds of a version, and says which versions cannot be compared. */
export class VersionRoundsReader {
  readonly #definition: BisectDefinition;
  readonly #scale: RoundScale;
  readonly #isStopped: boolean;
  /** Runs without a number after which a version cannot be compared: as many as decide about one that has numbers. */
  readonly #emptyRunsMin: number;
  /** By version, round and input. */
  readonly #rounds = new Map<string, Map<number, Map<string, InputOutcomes>>>();
  readonly #tallies = new Map<string, RunTally>();

  /**
   * `isStopped`: a caller has stopped the search, which cancels its runs. `roundsMin`: the fewest rounds that decide about a
   * version.
   */
  constructor(
    definition: BisectDefinition,
    { isStopped, roundsMin }: { isStopped: boolean; roundsMin: number },
  ) {
    this.#definition = definition;
    this.#emptyRunsMin = roundsMin * definition.input_ids.length;
    this.#isStopped = isStopped;
    this.#scale = { measure: definition.difference.type, direction: definition.direction };
  }

  /** Adds a run; one without an id could not be created. */
  add(raw: RawObservation): void {
    const run = parseObservation(raw);
    const isRefused = raw.run_id === undefined && raw.status !== 'deleted';
    const outcome = isRefused ? 'refused' : readOutcome(run, this.#definition.indicator);
    const tally = this.#getTally(run.version_id);
    if (outcome === 'failed') tally[run.status === 'succeeded' ? 'unreported' : 'failed'] += 1;
    else if (outcome === 'refused' || outcome === 'pending') tally[outcome] += 1;
    else if (outcome !== 'canceled') tally.reported += 1;
    this.#setOutcome(run, outcome === 'refused' ? 'canceled' : outcome);
  }

  /** Adds a planned run that is still to be submitted. Add it before the runs, because it may be submitted meanwhile. */
  addWaiting(row: PlannedRunsTable): void {
    const { scenario_id = null, repetition = null } = parseLabels(row);
    this.#getTally(row.version_id).pending += 1;
    this.#setOutcome(
      { version_id: row.version_id, scenario_id, repetition, input_id: row.input_id ?? '' },
      'pending',
    );
  }

  #setOutcome(
    run: Pick<RawObservation, 'version_id' | 'scenario_id' | 'repetition' | 'input_id'>,
    outcome: Outcome,
  ): void {
    const rounds = getOrCreate(this.#rounds, run.scenario_id ?? '', () => new Map());
    const inputs = getOrCreate(rounds, run.repetition ?? 0, () => new Map());
    const outcomes = getOrCreate(inputs, run.input_id, (): InputOutcomes => ({}));
    outcomes[this.#findSide(run)] = outcome;
  }

  #findSide({
    version_id,
    scenario_id,
  }: Pick<RawObservation, 'version_id' | 'scenario_id'>): keyof InputOutcomes {
    if (version_id === this.#definition.good_version_id) return 'control';
    return version_id === scenario_id ? 'candidate' : 'reference';
  }

  /** Returns the versions with runs that the server did not create. */
  listRefusedVersions(): string[] {
    return [...this.#tallies].flatMap(([version, { refused }]) => (refused > 0 ? [version] : []));
  }

  /**
   * Returns the reason why the good or the bad version cannot be compared, so that the search cannot continue; null if both
   * can. Failures of the bad version alone are what the search looks for.
   */
  describeFailure(describeRefusal: (version: string) => string): string | null {
    const { good_version_id: good, bad_version_id: bad, indicator } = this.#definition;
    for (const version of [good, bad]) {
      const { refused, pending, failed, reported, unreported } = this.#getTally(version);
      if (refused > 0) return `The version "${version}" could not be run: ${describeRefusal(version)}`;
      if (pending > 0 || reported > 0 || failed + unreported < this.#emptyRunsMin) continue;
      if (unreported > 0)
        return `No run of the version "${version}" reported ${indicator}, so it cannot be compared. Name an indicator that both versions report.`;
      if (version === good)
        return `All runs of the version "${good}" failed, so nothing can be compared with it. Name a good version that runs.`;
    }
    const lost = this.#explainLostRuns(bad);
    return lost === null ? null : `The version "${bad}" cannot be compared: ${lost}.`;
  }

  /** Returns the rounds of the version. A run that was deleted counts as canceled. */
  read(version: string, describeRefusal: (version: string) => string): VersionRounds {
    return { rounds: this.#listRounds(version), obstacle: this.#findObstacle(version, describeRefusal) };
  }

  #listRounds(version: string): RoundOutcome[] {
    const references = this.#listPairs(version, 'reference');
    return this.#listPairs(version, 'control').map((pairs, index): RoundOutcome => {
      const round = computeRoundEffect(pairs, this.#scale);
      const reference = references[index] ?? [];
      if (round.state === 'pending' || reference.length === 0) return round;
      const against = computeRoundEffect(reference, this.#scale);
      return against.state === 'pending' ? against : { ...round, ahead: against.effect };
    });
  }

  /** Returns the pairs of each round of the version; none of a round without the other side. */
  #listPairs(version: string, side: 'control' | 'reference'): OutcomePair[][] {
    const rounds = this.#rounds.get(version) ?? new Map<number, Map<string, InputOutcomes>>();
    const count = Math.max(-1, ...rounds.keys()) + 1;
    return Array.from({ length: count }, (_, round) =>
      this.#definition.input_ids.flatMap((input) => {
        const outcomes = rounds.get(round)?.get(input) ?? {};
        const { candidate = 'canceled' } = outcomes;
        if (side === 'reference' && outcomes.reference === undefined) return [];
        return [{ control: outcomes[side] ?? 'canceled', candidate }];
      }),
    );
  }

  /** Explains canceled and deleted runs of the version: without its worst ones, any version is as good as the good one. */
  #explainLostRuns(version: string): string | null {
    const pairs = [...this.#listPairs(version, 'control'), ...this.#listPairs(version, 'reference')];
    return this.#isStopped ? null : explainLostPairs(pairs.flat());
  }

  /**
   * A version none of whose runs has a number cannot be compared: it may be broken for another reason than the one that the
   * search looks for. Where the bad version always fails too, its failures are that reason.
   */
  #findObstacle(version: string, describeRefusal: (version: string) => string): string | null {
    const { bad_version_id: bad, indicator } = this.#definition;
    const { refused, pending, failed, reported, unreported } = this.#getTally(version);
    if (pending > 0) return null;
    if (refused > 0) return `Its runs could not be created: ${describeRefusal(version)}`;
    const lost = this.#explainLostRuns(version);
    if (lost !== null) return `Of its runs, ${lost}.`;
    // A single failure can be a chance, and decides nothing.
    if (reported > 0 || failed + unreported < this.#emptyRunsMin) return null;
    if (unreported > 0) return `None of its ${failed + unreported} runs reported ${indicator}.`;
    if (this.#getTally(bad).reported > 0) return `All of its ${failed} runs failed.`;
    return null;
  }

  #getTally(version: string): RunTally {
    return getOrCreate(this.#tallies, version, () => ({
      reported: 0,
      failed: 0,
      unreported: 0,
      refused: 0,
      pending: 0,
    }));
  }
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}
