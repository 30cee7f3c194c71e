/** Warns, before any run is paid for, of clusterings that will hardly allow a verdict. Pure. */
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import { TESTED_CLUSTERS_MIN } from '../statistics/dependence.ts';
import type { InputProperties } from '../store/input-properties.ts';
import type { ContentGroups } from './group-contents.ts';

/**
 * Returns a warning for each clustering with inputs without a cluster, with one cluster, and with too few to test by. `unit`
 * names an input in the warnings. There is none without inputs.
 */
export function warnOfClusters(
  properties: readonly Pick<InputProperties, 'clusters'>[],
  clusterings: readonly string[],
  unit: 'input' | 'original' = 'input',
): string[] {
  if (properties.length === 0) return [];
  return clusterings.flatMap((name) => {
    const sizes = new Map<string, number>();
    for (const { clusters } of properties) {
      const label = Object.hasOwn(clusters, name) ? `known ${clusters[name]}` : 'unknown';
      sizes.set(label, (sizes.get(label) ?? 0) + 1);
    }
    return [
      ...warnOfUnknown(name, unit, { unknown: sizes.get('unknown') ?? 0, total: properties.length }),
      ...warnOfFew(name, unit, [...sizes.values()]),
    ];
  });
}

/** Explains groups of inputs with mostly equal contents: the comparisons count each group as one input. */
export function explainContentGroups({ labels, count, grouped, field }: ContentGroups): string[] {
  const advice =
    field === null || count === 1
      ? 'If they are independent, declare cluster_by: ["content"].'
      : `cluster_by: [${JSON.stringify(field)}] declares the same groups, and cluster_by: ["content"] independent inputs.`;
  return [
    count === 1
      ? `All ${labels.length} inputs share most of their content and count as versions of one input, so there will be no verdict. ${advice}`
      : `${grouped} of ${labels.length} inputs share most of their content with another one: the inputs count as ${count} groups. ${advice}`,
  ];
}

function warnOfUnknown(
  name: string,
  unit: string,
  { unknown, total }: { unknown: number; total: number },
): string[] {
  if (unknown === 0) return [];
  return [
    `cluster_by ${name}: ${unknown} of ${total} ${unit}s have no such value; they count as one cluster.`,
  ];
}

function warnOfFew(name: string, unit: string, sizes: readonly number[]): string[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const effective = total ** 2 / sizes.reduce((sum, size) => sum + size * size, 0);
  if (sizes.length === 1)
    return [
      `cluster_by ${name}: all ${unit}s belong to one cluster, so the verdict holds for this cluster alone.`,
    ];
  if (effective >= TESTED_CLUSTERS_MIN) return [];
  return [
    `cluster_by ${name}: the ${unit}s form ${sizes.length} clusters, which count as ${formatEvidence(effective)} of equal size. Below ${TESTED_CLUSTERS_MIN} there is a verdict only if the clusters do not differ; use ${unit}s of more clusters.`,
  ];
}
