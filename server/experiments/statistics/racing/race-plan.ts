/** The plan of a race, and the decisions so far, as the definition of its experiment stores them. Pure. */
import type { DroppedConfiguration } from './race.ts';

/** A competitor. The runs with these properties form one group of the results. */
export interface RaceConfiguration {
  instance_id: string;
  /** The version that its instance had at the creation of the test; empty for `latest`. */
  version_id: string;
  /** Absent for runs without an ensemble. */
  ensemble_id?: string;
  option_set: string | null;
  scenario_id: string | null;
}

/** Inputs of the same content; they count as one. */
export interface RaceInputGroup {
  /** Hash of the content. */
  content: string;
  inputs: { input_set_id: string; input_id: string }[];
}

export interface RacePlan {
  confidence: number;
  indicator: string;
  /** The first is the control. */
  configurations: RaceConfiguration[];
  /** The repetitions that each configuration runs on each input. */
  repetitions: number[];
  /** In the order of the race. */
  inputs: RaceInputGroup[];
  /** Inputs whose runs are planned. */
  planned_inputs: number;
  /** Runs planned so far; the position of the next one. */
  planned_runs: number;
  /** Inputs after which the decisions are made; the runs of the others have not all ended. */
  decided_inputs: number;
  dropped: DroppedConfiguration[];
}

/** Lists the configurations that are still in the race, as ascending indices. */
export function listRunningConfigurations({
  configurations,
  dropped,
}: Pick<RacePlan, 'configurations' | 'dropped'>): number[] {
  const gone = new Set(dropped.map(({ configuration }) => configuration));
  return configurations.flatMap((_configuration, index) => (gone.has(index) ? [] : [index]));
}

/** Returns true if the race plans no further runs: every input is planned, or only the control is left. */
export function isRaceOver(race: RacePlan): boolean {
  return race.planned_inputs === race.inputs.length || listRunningConfigurations(race).length === 1;
}

/** Lists the ids of the inputs whose runs are planned. */
export function listPlannedInputs({ inputs, planned_inputs }: RacePlan): string[] {
  const ids = inputs
    .slice(0, planned_inputs)
    .flatMap((group) => group.inputs.map(({ input_id }) => input_id));
  return [...new Set(ids)];
}

/** Counts the runs of one configuration on the inputs from `from` on. */
export function countRaceRuns({ inputs, repetitions }: RacePlan, from = 0): number {
  return inputs.slice(from).reduce((total, group) => total + group.inputs.length * repetitions.length, 0);
}

/** Formats the key by which runs belong to a configuration. */
export function formatConfigurationKey({
  instance_id,
  version_id,
  ensemble_id = '',
  option_set,
  scenario_id,
}: RaceConfiguration): string {
  return JSON.stringify([instance_id, version_id, ensemble_id, option_set || '', scenario_id || '']);
}
