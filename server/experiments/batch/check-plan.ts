/** Checks whether the plan of a batch can give a verdict at all, before any run is paid for. Pure. */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import type { RequestedRun } from '../operations/plan-run.ts';
import { countUnitsToReject } from '../statistics/sample-size.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';
import type { BatchRequest } from './parse-batch-request.ts';

/** The share of the error rate that a primary indicator has beside others. */
const PRIMARY_SHARE = 0.8;

/** A planned run with the identity of its input: inputs of equal content count as one. */
export type PlannedInput = Pick<RequestedRun, 'instance_id' | 'version_id' | 'option_set' | 'scenario_id'> & {
  ensemble_id?: string;
  content: string;
};

/**
 * Returns the reasons why the plan cannot give some verdicts. Throws a 400 for a plan that can never give one, if the request
 * uses a setting that only affects verdicts. The published clients use no such setting, so all their plans are created.
 */
export function checkPlan(
  request: Pick<BatchRequest, 'settings' | 'seeds' | 'optionSets'>,
  runs: readonly PlannedInput[],
): string[] {
  const missing = explainMissingVerdicts(runs, request.settings);
  if (missing?.isTotal) {
    const setting = findVerdictSetting(request);
    if (setting !== null)
      throw badRequest(`${setting} is given, but this plan can never give a verdict. ${missing.text}`);
  }
  return [...(missing ? [missing.text] : []), ...warnOfSeedOptions(request.optionSets)];
}

/** Returns the field of the request that only has a meaning with a verdict; null for none. */
function findVerdictSetting({ settings, seeds }: Pick<BatchRequest, 'settings' | 'seeds'>): string | null {
  if (settings.primary) return 'primary';
  if (settings.guardrails) return 'guardrails';
  if (seeds) return 'seeds';
  if (settings.cluster_by) return 'cluster_by';
  const detailed = Object.entries(settings.objectives ?? {}).find(([, one]) => typeof one === 'object');
  return detailed ? `objectives.${detailed[0]}` : null;
}

/** Returns a sentence with the number of inputs that would work; null when every candidate can get a verdict. */
function explainMissingVerdicts(
  runs: readonly PlannedInput[],
  { objectives, primary }: ComparisonSettings,
): { text: string; isTotal: boolean } | null {
  const [control, ...candidates] = groupContents(runs);
  if (control === undefined || candidates.length === 0) return null;
  const shared = candidates.map((contents) => [...contents].filter((one) => control.has(one)).length);
  const least = countUnitsToReject(1 / candidates.length);
  const few = shared.filter((count) => count < least);
  if (few.length === 0) return null;
  const primaries = primary ? 1 : Math.max(1, Object.keys(objectives ?? {}).length);
  const enough = countUnitsToReject(PRIMARY_SHARE / (candidates.length * primaries));
  const isTotal = few.length === candidates.length;
  const found = `${formatCount(Math.max(...few), 'distinct input')} in common with the first side`;
  const advice = `Use an input set of at least ${enough} distinct inputs; repetitions and seeds do not replace inputs.`;
  return {
    isTotal,
    text: isTotal
      ? `The sides have at most ${found}. A verdict with ${formatCount(candidates.length, 'candidate')} needs at least ${least}. ${advice}`
      : `${few.length} of ${candidates.length} candidates have at most ${found} and can get no verdict, which needs at least ${least}. ${advice}`,
  };
}

/** Returns the contents of the inputs of each side, in the order of the runs. The first side is the control. */
function groupContents(runs: readonly PlannedInput[]): Set<string>[] {
  const groups = new Map<string, Set<string>>();
  for (const { instance_id, version_id, ensemble_id, option_set, scenario_id, content } of runs) {
    const key = JSON.stringify([instance_id, version_id, ensemble_id, option_set, scenario_id]);
    groups.set(key, (groups.get(key) ?? new Set()).add(content));
  }
  return [...groups.values()];
}

/** Names that apps give to the seed of their random numbers: `seed`, `random_seed`, `solve.seed`, `randomState`. */
const SEED_NAME = /(seed|random_?state)$/i;

/** Warns of option sets that differ only in a seed: they become sides, and the control is compared with itself. */
function warnOfSeedOptions(optionSets: BatchRequest['optionSets']): string[] {
  const alike = new Map<string, { keys: string[]; names: Set<string> }>();
  for (const [key, options] of optionSets) {
    const [seeds, others] = [true, false].map((isSeed) =>
      Object.entries(options).filter(([name]) => SEED_NAME.test(name) === isSeed),
    );
    if (!seeds || seeds.length === 0) continue;
    const names = seeds.map(([name]) => name).sort();
    const shape = JSON.stringify([names, (others ?? []).sort()]);
    const found = alike.get(shape) ?? { keys: [], names: new Set(names) };
    alike.set(shape, found);
    found.keys.push(key);
  }
  return [...alike.values()]
    .filter(({ keys }) => keys.length > 1)
    .map(
      ({ keys, names }) =>
        `The option sets ${keys.slice(0, 2).join(' and ')} differ only in ${[...names].join(' and ')}, so they are compared with each other${keys.length > 2 ? `, as ${keys.length - 2} more are` : ''}. Give the values as seeds instead: then they are repetitions of each input.`,
    );
}
