/** Reads the outcomes of a race from the runs of its experiment, and computes its state. Pure. */

import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { type IndicatorSettings, prefersRelative, readLargestLoss } from '../comparison/effect-scale.ts';
import type { Progress } from '../comparison/verdict.ts';
import { clampToFinite, computeScale } from '../numbers.ts';
import { findReportedValue, type Observation } from '../observations.ts';
import { SIMILAR_CONTENT } from '../paired/relation.ts';
import { type Outcome, readOutcome } from '../paired/units.ts';
import {
  computeRaceThreshold,
  RACE_LARGEST_LOSS,
  type RaceInput,
  type RaceOutcome,
  type RaceScale,
  type RaceState,
  runRace,
} from './race.ts';
import { formatConfigurationKey, type RaceConfiguration, type RacePlan } from './race-plan.ts';

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

type RacedConfiguration = NonNullable<ComparedGroups['racing']>;

/** The places of all configurations in a race. */
export interface RaceStandings {
  /** Returns the place of the configuration of a run. */
  find: (run: RaceConfiguration) => RacedConfiguration | undefined;
  warnings: string[];
}

/** Computes the standings of a race from its runs. */
export function computeStandings(
  race: RacePlan,
  settings: IndicatorSettings,
  { runs, progress }: { runs: readonly Observation[]; progress: Progress },
): RaceStandings {
  const reader = new RaceReader(race);
  for (const run of runs) reader.add(run);
  const isComplete = progress === 'complete';
  const inputs = isComplete ? race.planned_inputs : race.decided_inputs;
  const { e_values } = reader.computeState(settings, inputs);
  const dropped = new Map(race.dropped.map((one) => [one.configuration, one]));
  const standings = race.configurations.map((configuration, index): [string, RacedConfiguration] => {
    const drop = dropped.get(index);
    const against = drop && race.configurations[drop.against];
    return [
      formatConfigurationKey(configuration),
      {
        status: drop ? 'dropped' : isComplete ? 'finished' : 'running',
        inputs: drop?.after_inputs ?? inputs,
        dropped_after_inputs: drop?.after_inputs ?? null,
        against: against ? formatConfiguration(against) : null,
        e_value: clampToFinite(drop?.e_value ?? e_values[index] ?? 1),
        threshold: computeRaceThreshold(race.confidence),
      },
    ];
  });
  const byKey = new Map(standings);
  const { length } = race.dropped;
  return {
    find: (run) => byKey.get(formatConfigurationKey(run)),
    warnings:
      length === 0
        ? []
        : [
            `The race dropped ${length} of ${formatCount(race.configurations.length, 'configuration')}: their distributions cover fewer inputs, and profiles omit them.`,
          ],
  };
}

function formatConfiguration({ option_set, scenario_id, ...rest }: RaceConfiguration) {
  return {
    ...rest,
    ...(option_set ? { option_set } : {}),
    ...(scenario_id ? { scenario_id } : {}),
  };
}

/** Returns the sentences about what the race does to the estimates of a configuration. */
export function explainRace({ status, dropped_after_inputs }: RacedConfiguration): string[] {
  if (status === 'running') return [];
  return [
    status === 'dropped'
      ? `The race dropped this candidate after ${formatCount(dropped_after_inputs ?? 0, 'input')}, at a moment at which it looked bad, so its estimates are too pessimistic.`
      : 'This candidate ran every input of the race, so its estimates are those of a test without a race; the best of several still looks better than it is.',
  ];
}
