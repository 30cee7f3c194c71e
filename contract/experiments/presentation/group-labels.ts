/** Names of the groups of runs that an experiment compares. */
import type { ComparedGroups } from '../experiment-results.ts';

export type Group = ComparedGroups['control'];

const KEYS = ['instance_id', 'version_id', 'ensemble_id', 'option_set', 'scenario_id'] as const;

/**
 * Returns the function that names a group by the parts in which the groups differ, such as `candidate · fast`. A group
 * without such a part has the name of its instance, version or ensemble.
 */
export function createGroupNamer(groups: readonly Group[]): (group: Group) => string {
  const differing = KEYS.filter((key) => new Set(groups.map((group) => group[key] ?? '')).size > 1);
  // A version says nothing new where the instances differ, unless one instance ran several.
  const instances = new Set(groups.map((group) => `${group.instance_id} ${group.ensemble_id ?? ''}`));
  const pairs = new Set(
    groups.map((group) => `${group.instance_id} ${group.ensemble_id ?? ''} ${group.version_id}`),
  );
  const parts = pairs.size === instances.size ? differing.filter((key) => key !== 'version_id') : differing;
  return (group) => {
    const own = parts.map((key) => group[key] ?? '').filter((part) => part !== '');
    const base = group.instance_id || group.ensemble_id || group.version_id || 'latest';
    if (own.length === 0) return base;
    // An instance and a scenario may have one name.
    return [...new Set(own)].join(' · ');
  };
}

/** Returns true if the groups have the same runs. */
export function isSameGroup(one: Group, other: Group): boolean {
  return KEYS.every((key) => (one[key] ?? '') === (other[key] ?? ''));
}

/** Returns the side that the group is, or `faint` for one that is not compared now. */
export function classifyGroup(
  group: Group,
  { control, candidate }: { control: Group; candidate: Group },
): 'control' | 'candidate' | 'faint' {
  if (isSameGroup(group, control)) return 'control';
  return isSameGroup(group, candidate) ? 'candidate' : 'faint';
}
