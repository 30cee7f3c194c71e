/** Formats a race for the response body of its experiment. Pure. */
import type { Racing } from '@switchyard/contract/experiments/racing.ts';
import {
  countRaceRuns,
  isRaceOver,
  listRunningConfigurations,
  type RacePlan,
} from '../statistics/racing/race-plan.ts';

/** Returns the race as the response body of its experiment has it. */
export function formatRace(race: RacePlan): Racing {
  const { confidence, indicator, inputs, configurations, planned_inputs, planned_runs, dropped } = race;
  const remaining = isRaceOver(race)
    ? 0
    : listRunningConfigurations(race).length * countRaceRuns(race, planned_inputs);
  return {
    confidence,
    indicator,
    inputs: inputs.length,
    inputs_planned: planned_inputs,
    configurations: configurations.length,
    configurations_dropped: dropped.length,
    runs_saved: configurations.length * countRaceRuns(race) - planned_runs - remaining,
  };
}
