/** The standings of a race, and their explanation. Pure. */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import type { IndicatorSettings } from '../comparison/effect-scale.ts';
import type { Progress } from '../comparison/verdict.ts';
import { clampToFinite } from '../numbers.ts';
import type { Observation } from '../observations.ts';
import { computeRaceThreshold } from './race.ts';
import { formatConfigurationKey, type RaceConfiguration, type RacePlan } from './race-plan.ts';
import { RaceReader } from './read-race.ts';

/** The place of a configuration in a race, in the form of the API: the contract describes the fields. */
interface RacedConfiguration {
  status: 'running' | 'dropped' | 'finished';
  inputs: number;
  dropped_after_inputs: number | null;
  against: ReturnType<typeof formatConfiguration> | null;
  e_value: number;
  threshold: number;
}

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
