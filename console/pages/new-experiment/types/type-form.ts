/** The form of one type of experiment: the parts of its request that are no single fields. */
import type { FormField } from '@switchyard/contract/experiment-types/descriptor.ts';
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { type DraftValues, type ExperimentDraft, formatEnsembleSide, parseEnsembleSide } from '../draft.ts';
import type { ComparedExperiment } from './comparison.ts';
import type { InstanceRuns, KnownSizes } from './count-runs.ts';

/** An experiment of the form's type, whose settings fill the form. */
export type SourceAddress = Pick<ExperimentAddress, 'application' | 'id'>;

/** An earlier experiment: values with the paths of the request, and the parts that are no single fields. */
interface Source {
  values: ComparedExperiment & { name: string; description: string };
  parts: DraftValues;
}

export interface TypeForm {
  /** Returns the parts of the request. Throws a SyntaxError for a value that has no meaning. */
  build(draft: ExperimentDraft): Record<string, unknown>;
  /** Returns the groups of fields that the request leaves out. */
  listUnused?(draft: ExperimentDraft): readonly FormField[];
  /** Reads what the experiment was started with. */
  read(address: SourceAddress): Promise<Source>;
  /**
   * Returns the runs that slots execute, those of ensembles as their child runs. Returns undefined where a listed run names a
   * version alone, where the hours of the plan decide, and where the runs exist or only the server plans them.
   */
  listWork(draft: ExperimentDraft, sizes: KnownSizes): InstanceRuns[] | undefined;
}

/** Returns the side of a run or of an acceptance test. */
export function buildSide(side: string) {
  const ensemble = parseEnsembleSide(side);
  return ensemble === undefined ? { instance_id: side } : { ensemble_id: ensemble };
}

/** Returns the side of the form that the group is. */
export const formatSide = (side: { instance_id: string; ensemble_id?: string | undefined }): string =>
  side.ensemble_id === undefined ? side.instance_id || 'latest' : formatEnsembleSide(side.ensemble_id);

/** Returns how often each side ran each input. Seeds are repetitions too, and the form ignores the number then. */
export function countPastRepetitions(runs: readonly { repetition: number | null }[]): number {
  return 1 + Math.max(0, ...runs.map(({ repetition }) => repetition ?? 0));
}
