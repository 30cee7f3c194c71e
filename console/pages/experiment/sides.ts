import type { Group } from '@switchyard/contract/experiments/presentation/group-labels.ts';

/** The candidate that the verdict is about, and what its option set changes. */
export interface Sides {
  control: Group;
  candidate: Group;
  options?: Readonly<Record<string, string>>;
}
