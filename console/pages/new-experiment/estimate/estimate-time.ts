/** The runs of an experiment whose time is estimated. */
import type { ExperimentType } from '@switchyard/contract/experiments/presentation/experiment-types.ts';
import { splitList } from '../../../ui/forms/split-text.ts';
import {
  countOptionSets,
  countRepetitions,
  type ExperimentDraft,
  formatEnsembleSide,
  parseEnsembleSide,
  readListedRuns,
} from '../draft.ts';

/** A number of runs of one instance. */
export interface InstanceRuns {
  instance: string;
  runs: number;
}

/** An ensemble with the child runs that one of its runs has. */
export interface EnsembleChoice {
  id: string;
  groups: readonly InstanceRuns[];
}

/** The sizes of an experiment that its draft does not contain. */
export interface KnownSizes {
  /** Inputs of the chosen input set. */
  inputs: number;
  ensembles: readonly EnsembleChoice[];
}

/**
 * Returns the runs that slots execute, those of ensembles as their child runs. Returns undefined where a listed run names a
 * version alone, where the hours of the plan decide, and where the existing runs of a batch are evaluated.
 */
export function listWork(
  type: ExperimentType,
  draft: ExperimentDraft,
  { inputs, ensembles }: KnownSizes,
): InstanceRuns[] | undefined {
  const expand = (side: string, runs: number): InstanceRuns[] => {
    const ensemble = parseEnsembleSide(side);
    if (ensemble === undefined) return [{ instance: side, runs }];
    const groups = ensembles.find(({ id }) => id === ensemble)?.groups ?? [];
    return groups.map((group) => ({ instance: group.instance, runs: group.runs * runs }));
  };
  const sides = [draft.control, ...draft.candidates];
  switch (type) {
    case 'switchback':
      return undefined;
    case 'shadow':
      return draft.candidates.flatMap((side) => expand(side, Number(draft.maximumRuns)));
    case 'bisect':
      return expand(
        draft.control,
        isSearchLimited(draft) ? Number(draft.searchRuns) : countRoundRuns(draft, inputs),
      );
    case 'acceptance':
      if (draft.batch !== '') return undefined;
      return sides.flatMap((side) => expand(side, inputs * countRepetitions(draft)));
    default: {
      const sets = type === 'scenario' ? countOptionSets(draft) : 1;
      const listed = listRequestedRuns(draft, inputs);
      if (listed === undefined) return undefined;
      return listed === null
        ? sides.flatMap((side) => expand(side, inputs * countRepetitions(draft) * sets))
        : listed.flatMap(({ side, runs }) => expand(side, runs));
    }
  }
}

/** Returns true for a search that has a largest number of runs. Any other is estimated by one of its rounds. */
export const isSearchLimited = ({ searchRuns }: ExperimentDraft): boolean => searchRuns.trim() !== '';

/** Returns the runs of a round of a search: each input on the good version and on another one. */
export function countRoundRuns({ inputSet, inputIds }: ExperimentDraft, inputs: number): number {
  return 2 * (inputSet === '' ? splitList(inputIds).length : inputs);
}

/** Returns the versions that a binary search tests at most: the bad one, then half of those that are left. */
export function countTestedVersions(
  { goodVersion, badVersion }: ExperimentDraft,
  newestFirst: readonly string[],
) {
  const steps = newestFirst.indexOf(goodVersion) - newestFirst.indexOf(badVersion);
  return steps < 1 ? 0 : 1 + Math.ceil(Math.log2(steps));
}

/** Returns the sides of the listed runs; null without any, undefined where they cannot be read or are of no instance. */
function listRequestedRuns(draft: ExperimentDraft, inputs: number) {
  try {
    const runs = readListedRuns(draft);
    if (runs === undefined) return null;
    const sides = runs.map(({ instance_id, ensemble_id, input_id }) => ({
      side: ensemble_id ? formatEnsembleSide(ensemble_id) : (instance_id ?? ''),
      runs: input_id ? 1 : inputs,
    }));
    return sides.some(({ side }) => side === '') ? undefined : sides;
  } catch {
    return undefined;
  }
}
