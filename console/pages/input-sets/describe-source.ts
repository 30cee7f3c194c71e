import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';

/** Returns the origin of the inputs of a set: runs, managed inputs or both. */
export function describeSource({ inputs, instance_id }: InputSet): string {
  const runs = inputs.filter(({ run_id }) => run_id !== undefined).length;
  const parts = [
    ...(runs > 0 ? [instance_id === undefined ? 'runs' : `runs of ${instance_id}`] : []),
    ...(runs < inputs.length ? ['managed inputs'] : []),
  ];
  return parts.join(' and ');
}
