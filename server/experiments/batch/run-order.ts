/**
 * The order in which the runs of a batch are submitted: randomised complete blocks. A block is one repetition of one input.
 * It has the runs of every side next to each other, in an order by a fair coin, and the inputs of a repetition follow each
 * other at random. With all runs of the control first, a drift of the machine (heat, cache, neighbours) would be a difference
 * between the sides. Source: Mytkowicz et al., Producing wrong data without doing anything obviously wrong, ASPLOS 2009. Pure.
 */

import { RandomGenerator, shuffle } from '../../platform/random-generator.ts';
import type { RequestedRun } from '../operations/plan-run.ts';

/** A run with the number of its block. */
export interface BlockedRun<Run> {
  run: Run;
  /** From 0, in the order of submission. */
  block: number;
}

/** Returns the runs in the order of submission. The same seed returns the same order. */
export function arrangeInBlocks<Run extends Pick<RequestedRun, 'input_set_id' | 'input_id' | 'repetition'>>(
  runs: readonly Run[],
  seed: string,
): BlockedRun<Run>[] {
  const random = new RandomGenerator(seed);
  const repetitions = new Map<number, Map<string, Run[]>>();
  for (const run of runs) {
    const inputs = repetitions.get(run.repetition) ?? new Map<string, Run[]>();
    repetitions.set(run.repetition, inputs);
    const input = JSON.stringify([run.input_set_id, run.input_id]);
    const block = inputs.get(input) ?? [];
    inputs.set(input, block);
    block.push(run);
  }
  const blocks = [...repetitions.entries()]
    .sort(([a], [b]) => a - b)
    .flatMap(([, inputs]) => shuffle([...inputs.values()], random));
  return blocks.flatMap((sides, block) => shuffle(sides, random).map((run) => ({ run, block })));
}
