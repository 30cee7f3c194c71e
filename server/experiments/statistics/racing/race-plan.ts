/** The plan of a race, and the decisions so far, as the definition of its experiment stores them. Pure. */
import Type, { type Static } from 'typebox';

/** A competitor. The runs with these properties form one group of the results. */
const RaceConfiguration = Type.Object({
  instance_id: Type.String(),
  /** The version that its instance had at the creation of the test; empty for `latest`. */
  version_id: Type.String(),
  /** Absent for runs without an ensemble. */
  ensemble_id: Type.Optional(Type.String()),
  option_set: Type.Union([Type.String(), Type.Null()]),
  scenario_id: Type.Union([Type.String(), Type.Null()]),
});
export type RaceConfiguration = Static<typeof RaceConfiguration>;

/** Inputs of the same content; they count as one. */
const RaceInputGroup = Type.Object({
  /** Hash of the content. */
  content: Type.String(),
  inputs: Type.Array(Type.Object({ input_set_id: Type.String(), input_id: Type.String() })),
});
export type RaceInputGroup = Static<typeof RaceInputGroup>;

/** A configuration that the race dropped. Configurations are indices. */
const DroppedConfiguration = Type.Object({
  configuration: Type.Number(),
  after_inputs: Type.Number(),
  /** The configuration with the strongest evidence against it. */
  against: Type.Number(),
  e_value: Type.Number(),
});
export type DroppedConfiguration = Static<typeof DroppedConfiguration>;

export const RacePlan = Type.Object({
  confidence: Type.Number(),
  indicator: Type.String(),
  /** The first is the control. */
  configurations: Type.Array(RaceConfiguration),
  /** The repetitions that each configuration runs on each input. */
  repetitions: Type.Array(Type.Number()),
  /** In the order of the race. */
  inputs: Type.Array(RaceInputGroup),
  /** Inputs whose runs are planned. */
  planned_inputs: Type.Number(),
  /** Runs planned so far; the position of the next one. */
  planned_runs: Type.Number(),
  /** Inputs after which the decisions are made; the runs of the others have not all ended. */
  decided_inputs: Type.Number(),
  dropped: Type.Array(DroppedConfiguration),
});
export type RacePlan = Static<typeof RacePlan>;

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
