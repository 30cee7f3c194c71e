/** Plans the runs of the next inputs of a race, for the configurations that are still in it. Pure. */

import { RandomGenerator, shuffle } from '../../platform/random-generator.ts';
import type { PlannedRun } from '../../runs/store/planned-runs.ts';
import { type InputContent, planRun, type RunParts } from '../operations/plan-run.ts';
import { RACE_INPUTS_MIN } from '../statistics/racing/race.ts';
import {
  countRaceRuns,
  listRunningConfigurations,
  type RaceInputGroup,
  type RacePlan,
} from '../statistics/racing/race-plan.ts';

/** Runs that a round has at least, so that few configurations keep several slots busy. */
const ROUND_RUNS_MIN = 20;

interface RaceRunsPlan extends Pick<RunParts, 'optionSets' | 'seeds'> {
  race: RacePlan;
  /** Seed of the random order. */
  seed: string;
  /** Returns the content of an input of the race. */
  findContent: (input: RaceInputGroup['inputs'][number]) => InputContent;
}

/** Returns the runs of the next round, in their order, and the race with that round planned. */
export function planRaceRound(plan: RaceRunsPlan): { runs: PlannedRun[]; race: RacePlan } {
  const { race, seed, findContent, optionSets, seeds } = plan;
  const running = listRunningConfigurations(race);
  const planned_inputs = Math.min(race.inputs.length, race.planned_inputs + countRoundInputs(race, running));
  const runs: PlannedRun[] = [];
  let block = countRaceRuns(race) - countRaceRuns(race, race.planned_inputs);
  for (const [index, group] of race.inputs.slice(race.planned_inputs, planned_inputs).entries()) {
    // Each input has a separate seed, so that its order does not depend on the rounds before.
    const random = new RandomGenerator(`${seed} ${race.planned_inputs + index}`);
    for (const repetition of race.repetitions)
      for (const input of group.inputs) {
        for (const configuration of shuffle(running, random)) {
          const found = race.configurations[configuration];
          if (found === undefined) continue;
          const run = { ensemble_id: '', ...found, ...input, repetition };
          const position = race.planned_runs + runs.length;
          runs.push(planRun(run, { block, position, content: findContent(input), optionSets, seeds }));
        }
        block += 1;
      }
  }
  const planned_runs = race.planned_runs + runs.length;
  return { runs, race: { ...race, planned_inputs, planned_runs } };
}

/** No configuration is dropped in the first inputs, so they are one round. Then a round has as few inputs as it can. */
function countRoundInputs(
  { planned_inputs, inputs, repetitions }: RacePlan,
  running: readonly number[],
): number {
  if (planned_inputs < RACE_INPUTS_MIN) return RACE_INPUTS_MIN;
  const runsOfInput = running.length * repetitions.length * (inputs[planned_inputs]?.inputs.length ?? 1);
  return Math.max(1, Math.ceil(ROUND_RUNS_MIN / runsOfInput));
}
