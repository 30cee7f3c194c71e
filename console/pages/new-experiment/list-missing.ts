/** What the form of a new experiment still needs before it can start. */
import {
  type ExperimentType,
  hasFact,
  hasField,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentDraft } from './draft.ts';

/** The steps that can be incomplete. */
export type StepName = 'sides' | 'inputs' | 'name';

export interface MissingPart {
  step: StepName;
  /** What to do next, as the button says it. */
  label: string;
}

/** Returns the missing parts in the order of the form. */
export function listMissing(type: ExperimentType, draft: ExperimentDraft): MissingPart[] {
  const isListed = draft.listedRuns.trim() !== '';
  const needsCandidate = !hasField(type, 'versions') && !hasField(type, 'optionSets') && !isListed;
  const needsInputs =
    !hasFact(type, 'isLive') &&
    !hasField(type, 'managedInputs') &&
    !isListed &&
    !(hasField(type, 'existingBatch') && draft.batch !== '');
  return [
    ...(needsCandidate && draft.candidates.length === 0
      ? [{ step: 'sides', label: 'Choose a candidate' } as const]
      : []),
    ...(needsInputs && draft.inputSet === ''
      ? [{ step: 'inputs', label: 'Choose an input set' } as const]
      : []),
    ...(draft.name.trim() === '' ? [{ step: 'name', label: 'Name the experiment' } as const] : []),
  ];
}

/** The element whose first control gets the focus when the step is next. */
export const nameTarget = (step: StepName): string => `next-${step}`;
