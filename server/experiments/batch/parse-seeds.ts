/**
 * The seeds of a batch: each seed is a repetition, with one option set to it on every side. Option sets that differ only in
 * a seed would be sides of their own instead, and the control would be compared with itself. Pure.
 */
import type { BatchExperimentCreate } from '@switchyard/contract/experiments/batch-experiments.ts';
import { validateOptions } from '../../apps/instances/rules.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Seeds } from '../operations/plan-run.ts';

const SEED_OPTION_DEFAULT = 'seed';

type SeedFields = Pick<
  BatchExperimentCreate,
  'seeds' | 'seed_option' | 'runs' | 'repetitions' | 'option_sets'
>;

/** Returns the seeds of the request, or null. Throws a 400 for fields that cannot be combined with them. */
export function parseSeeds(body: SeedFields): Seeds | null {
  const { seeds, seed_option, runs, repetitions, option_sets } = body;
  if (!seeds) {
    if (seed_option)
      throw badRequest(
        `seed_option is ${quoteValue(seed_option)}, but seeds is absent; give seeds, or leave seed_option out.`,
      );
    return null;
  }
  if (runs && runs.length > 0)
    throw badRequest(
      'seeds and runs are both given, and each of runs has its own options; give instance_ids instead of runs, or leave seeds out.',
    );
  if (typeof repetitions === 'number')
    throw badRequest(
      `seeds and repetitions are both given, and each seed is a repetition; leave repetitions out, or list ${repetitions} seeds.`,
    );
  const values = seeds.map(String);
  for (const [index, value] of values.entries()) {
    const earlier = values.indexOf(value);
    if (earlier < index)
      throw badRequest(
        `seeds.${index} is ${quoteValue(value)}, as seeds.${earlier} is; a run with the same seed is no new observation, so give each seed once.`,
      );
  }
  const option = seed_option || SEED_OPTION_DEFAULT;
  for (const value of values) {
    const error = validateOptions({ [option]: value }, 'seeds');
    if (error) throw badRequest(error);
  }
  for (const [key, options] of Object.entries(option_sets ?? {}))
    if (Object.hasOwn(options, option))
      throw badRequest(
        `option_sets.${key} has the option ${quoteValue(option)}, which seeds sets; leave it out of the option set, or name another seed_option.`,
      );
  return { option, values };
}
