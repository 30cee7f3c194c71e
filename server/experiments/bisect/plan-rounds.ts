/** Plans the runs of rounds: every input with the tested version, the good one and perhaps the bad one, side by side. */
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { RandomGenerator, shuffle } from '../../platform/random-generator.ts';
import type { PlannedRun } from '../../runs/store/planned-runs.ts';
import type { PlannedRounds } from '../statistics/bisect/search.ts';
import type { BisectDefinition } from '../store/bisect-definition.ts';

/** An input of the experiment, with the content that its runs share. */
export interface BisectInput {
  input_id: string;
  content_id: string;
  input_format: FormatType;
}

interface RoundsPlan {
  definition: BisectDefinition;
  inputs: readonly BisectInput[];
  rounds: PlannedRounds;
  /** Position of the first run; also the seed of the order. */
  position: number;
  /** The seed of the experiment. */
  seed: string;
}

/** Returns the runs in their order. The versions of an input follow each other at random, so that a slower host favours none. */
export function planRounds({ definition, inputs, rounds, position, seed }: RoundsPlan): PlannedRun[] {
  const { input_set_id, input_ids, instance_id, good_version_id } = definition;
  const contents = new Map<string, BisectInput>(inputs.map((input) => [input.input_id, input]));
  const random = new RandomGenerator(`${seed} ${position}`);
  const planned: PlannedRun[] = [];
  for (let round = rounds.from; round < rounds.from + rounds.count; round += 1)
    for (const inputId of input_ids) {
      const input = contents.get(inputId);
      if (!input) throw new Error(`The experiment has no content of the input ${inputId}.`);
      const versions = [rounds.version, good_version_id, ...(rounds.reference ? [rounds.reference] : [])];
      for (const version of shuffle(versions, random))
        planned.push({
          position: position + planned.length,
          instanceId: instance_id,
          versionId: version,
          options: {},
          contentId: input.content_id,
          inputFormat: input.input_format,
          inputId,
          labels: {
            scenario_id: rounds.version,
            repetition: round,
            ...(input_set_id === '' ? {} : { input_set_id }),
          },
        });
    }
  return planned;
}
