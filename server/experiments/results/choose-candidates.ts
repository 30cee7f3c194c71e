/** Chooses the candidates of an experiment whose spread a plan takes. Pure. */
import { ALL_CANDIDATES } from '@switchyard/contract/experiments/all-candidates.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import { createGroupNamer } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import type { Observation } from '../statistics/observations.ts';
import { formatGroup } from './batch-analysis.ts';

interface ChosenCandidates {
  groups: (readonly Observation[])[];
  /** The names of the control and of the chosen candidates. */
  compared: { control: string; candidates: string[] };
}

/**
 * Returns the candidates that the name means, and the names to choose from when it means none or several. A name is that of
 * the results, such as `candidate · fast`, or one part of it that only one candidate has. Without a name, only an experiment
 * with one candidate is clear.
 */
export function chooseCandidates(
  control: readonly Observation[],
  candidates: readonly (readonly Observation[])[],
  name: string | null,
): ChosenCandidates | { choices: string[] } {
  const groups = candidates.map(formatGroup);
  const nameGroup = createGroupNamer([formatGroup(control), ...groups]);
  const names = groups.map(nameGroup);
  const choose = (indexes: readonly number[]): ChosenCandidates => ({
    groups: indexes.flatMap((index) => candidates.slice(index, index + 1)),
    compared: {
      control: nameGroup(formatGroup(control)),
      candidates: indexes.flatMap((index) => names.slice(index, index + 1)),
    },
  });
  const all = [...candidates.keys()];
  if (name === ALL_CANDIDATES || (name === null && all.length === 1)) return choose(all);
  const exact = all.filter((index) => names[index] === name);
  const partial = all.filter((index) => hasPart(groups[index], name));
  const found = exact.length === 1 ? exact : partial;
  return found.length === 1 ? choose(found) : { choices: names };
}

function hasPart(group: ComparedGroups['candidate'] | undefined, name: string | null): boolean {
  return name !== null && Object.values(group ?? {}).includes(name);
}
