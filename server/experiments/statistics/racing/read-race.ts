/** Reads the outcomes of a race from the runs of its experiment, and computes its state. Pure. */

import { type IndicatorSettings, prefersRelative, readLargestLoss } from '../comparison/effect-scale.ts';
import { computeScale } from '../numbers.ts';
import { findReportedValue, type Observation } from '../observations.ts';
import { type Outcome, readOutcome } from '../paired/outcomes.ts';
import { SIMILAR_CONTENT } from '../paired/relation/related-units.ts';
import type { RaceOutcome, RaceScale } from './duel.ts';
import { RACE_LARGEST_LOSS, type RaceInput, type RaceState, runRace } from './race.ts';
import { formatConfigurationKey, type RacePlan } from './race-plan.ts';

/** The runs of one configuration on one input. */
interface CollectedRuns {
  values: number[];
  failed: number;
}

/** Collects the runs of a race, in any order. */
export class RaceReader {
  readonly #race: RacePlan;
  readonly #configurations: ReadonlyMap<string, number>;
  /** The index of an input by the hash of its content, or by its id where a run was never created. */
  readonly #inputs = new Map<string, number>();
  /** By input and configuration. */
  readonly #runs: (CollectedRuns | undefined)[][];
  /** By input: the group of inputs with mostly equal contents. */
  readonly #groups: (string | undefined)[] = [];

  constructor(race: RacePlan) {
    this.#race = race;
    this.#configurations = new Map(
      race.configurations.map((configuration, index) => [formatConfigurationKey(configuration), index]),
    );
    for (const [index, { content, inputs }] of race.inputs.entries()) {
      for (const { input_id } of inputs) this.#inputs.set(`input ${input_id}`, index);
      this.#inputs.set(`content ${content}`, index);
    }
    this.#runs = race.inputs.map(() => []);
  }

  /** Adds a run; ignores one of another configuration or input. A canceled run says nothing about its configuration. */
  add(run: Observation): void {
    const configuration = this.#configurations.get(formatConfigurationKey(run));
    const input =
      this.#inputs.get(`content ${run.content ?? ''}`) ?? this.#inputs.get(`input ${run.input_id}`);
    const outcome = readRaceOutcome(run, this.#race.indicator);
    if (configuration === undefined || input === undefined) return;
    if (outcome === 'canceled' || outcome === 'pending') return;
    this.#groups[input] = run.clusters?.[SIMILAR_CONTENT];
    const ofInput = this.#runs[input] ?? [];
    const collected = ofInput[configuration] ?? { values: [], failed: 0 };
    ofInput[configuration] = collected;
    if (outcome === 'failed') collected.failed += 1;
    else collected.values.push(outcome);
  }

  /** Computes the state of the race after its first `count` inputs, whose runs must have ended. */
  computeState(settings: IndicatorSettings, count: number): RaceState {
    const { confidence, configurations, inputs, dropped, decided_inputs } = this.#race;
    const listed = this.#runs
      .slice(0, count)
      .map(
        (runs, input): RaceInput =>
          configurations.map((_, index) => (this.#isVersion(input) ? null : summarise(runs[index]))),
      );
    const values = listed.flatMap((input) => input.flatMap((outcome) => outcome?.value ?? []));
    return runRace(
      listed,
      {
        confidence,
        scale: buildScale(settings, values),
        configurations: configurations.length,
        inputs: inputs.length,
      },
      { dropped, decided_inputs },
    );
  }

  /** Returns true for a version of an earlier input: it is no further evidence. */
  #isVersion(input: number): boolean {
    const group = this.#groups[input];
    return group !== undefined && this.#groups.indexOf(group) < input;
  }
}

/** Returns the outcome of a run, with 1 for true and 0 for false. */
function readRaceOutcome(run: Observation, indicator: string): Outcome {
  const value = run.status === 'succeeded' ? findReportedValue(run, indicator) : undefined;
  return typeof value === 'boolean' ? Number(value) : readOutcome(run, indicator);
}

function summarise(runs: CollectedRuns | undefined): RaceOutcome | null {
  if (runs === undefined) return null;
  const { values, failed } = runs;
  return {
    value: values.length === 0 ? null : values.reduce((total, value) => total + value / values.length, 0),
    failed: failed / (values.length + failed),
  };
}

function buildScale(settings: IndicatorSettings, values: readonly number[]): RaceScale {
  return {
    direction: settings.direction === 'maximize' ? 'maximize' : 'minimize',
    measure: prefersRelative(settings) ? 'relative' : 'absolute',
    tie_tolerance: settings.tie_tolerance,
    shift: settings.shift,
    largest_loss: readLargestLoss(settings, RACE_LARGEST_LOSS),
    factor: computeScale(values).factor,
  };
}
