/** The size of the experiment that the form describes. */
import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentDraft } from './draft.ts';
import type { Choices } from './queries.ts';
import { TYPE_FORMS } from './types/type-forms.ts';

/** Returns the number of inputs of the chosen input set. */
export function countInputs(draft: ExperimentDraft, { inputSets }: Pick<Choices, 'inputSets'>): number {
  return inputSets.find(({ id }) => id === draft.inputSet)?.inputs ?? 0;
}

/** Returns the runs of each instance; undefined where nothing says how many. */
export function listWork(type: ExperimentType, draft: ExperimentDraft, choices: Choices) {
  const { ensembles } = choices;
  return TYPE_FORMS[type].listWork(draft, { inputs: countInputs(draft, choices), ensembles });
}
