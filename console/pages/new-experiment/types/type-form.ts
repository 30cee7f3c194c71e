/** The form of one type of experiment: how its values become a request, and an experiment its values. */
import type { CallRequest, Client } from '@switchyard/contract/client.ts';
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { ExperimentDraft } from '../draft.ts';
import type { InstanceRuns, KnownSizes } from './count-runs.ts';
import type { DraftValues } from './draft-parts.ts';

type RequestBody<Id extends keyof Operations> =
  CallRequest<Operations[Id]> extends { body: infer Body } ? Body : never;

/** The operation that creates the experiment, with its body. */
export type ExperimentRequest =
  | { operation: 'createBatchExperiment'; body: RequestBody<'createBatchExperiment'> }
  | { operation: 'createAcceptanceTest'; body: RequestBody<'createAcceptanceTest'> }
  | { operation: 'createShadowTest'; body: RequestBody<'createShadowTest'> }
  | { operation: 'createSwitchbackTest'; body: RequestBody<'createSwitchbackTest'> }
  | { operation: 'createBisectExperiment'; body: RequestBody<'createBisectExperiment'> };

interface RequestNames {
  id: string;
  name: string;
  description?: string;
}

/** An experiment of the form's type, whose settings fill the form. */
export type SourceAddress = Pick<ExperimentAddress, 'application' | 'id'>;

export interface TypeForm {
  /** Returns the request. Throws a SyntaxError for a value that has no meaning. */
  build(draft: ExperimentDraft, names: RequestNames): ExperimentRequest;
  /** Returns the values that the experiment was started with. */
  read(client: Client, address: SourceAddress): Promise<DraftValues>;
  /**
   * Returns the runs that slots execute, those of ensembles as their child runs. Returns undefined where a listed run names a
   * version alone, where the hours of the plan decide, and where the runs exist or only the server plans them.
   */
  listWork(draft: ExperimentDraft, sizes: KnownSizes): InstanceRuns[] | undefined;
}
