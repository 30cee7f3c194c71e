/** The runs of an experiment whose time is estimated. */
import { parseEnsembleSide } from '../draft.ts';

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

/** Returns the runs of each instance when every side has this many, those of ensembles as their child runs. */
export function expandSides(
  sides: readonly string[],
  runs: number,
  { ensembles }: KnownSizes,
): InstanceRuns[] {
  return sides.flatMap((side) => {
    const ensemble = parseEnsembleSide(side);
    if (ensemble === undefined) return [{ instance: side, runs }];
    const groups = ensembles.find(({ id }) => id === ensemble)?.groups ?? [];
    return groups.map((group) => ({ instance: group.instance, runs: group.runs * runs }));
  });
}
