/** Sentences about units that look like versions of each other. */

import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import { RELATED_GROUPS_MIN, type Relation, SIMILAR_CONTENT } from './related-units.ts';

/** The part of a measurement that the sentences describe. */
interface RelatedMeasurement {
  relation: Relation | null;
  complete: readonly unknown[];
}

/** Warns that related units are tested by group. */
export function warnOfRelation({ relation, complete }: RelatedMeasurement, unit: string): string[] {
  if (relation?.action !== 'grouped') return [];
  if (relation.by === SIMILAR_CONTENT)
    return [
      `${capitalise(unit)}s share most of their content with others: ${complete.length} ${unit}s count as ${relation.clusters} groups. ${ADVICE}`,
    ];
  return [
    `${describeLikeness(relation, unit)}, as versions of one ${unit} have, or ${unit}s whose size decides: ${complete.length} ${unit}s count as ${relation.clusters} groups. ${ADVICE}`,
  ];
}

/** Returns the reason without a verdict where related units leave too few groups. */
export function listRelationBlockers({ relation, complete }: RelatedMeasurement, unit: string): string[] {
  if (relation?.action !== 'withheld') return [];
  if (relation.clusters === 1)
    return [
      `All ${complete.length} ${unit}s share most of their content and count as versions of one ${unit}, so there is no verdict. If they are independent, declare cluster_by: ["content"].`,
    ];
  // Several groups of similar contents are a clustering, which has a reason of its own.
  if (relation.by === SIMILAR_CONTENT) return [];
  return [
    `The ${unit}s look like versions of a few. ${describeLikeness(relation, unit)}, and fewer than ${RELATED_GROUPS_MIN} separate groups are left, so there is no verdict. ${ADVICE}`,
  ];
}

const ADVICE =
  'Name the field they come from in cluster_by; with cluster_by: ["content"], different contents count as independent.';

function describeLikeness({ p_value }: Relation, unit: string): string {
  return `${capitalise(unit)}s of like control values have like effects (p = ${formatEvidence(p_value)})`;
}

/** The relation in the form of the API. */
export interface RelatedInputs {
  p: number;
  clusters: number | null;
  action: Relation['action'];
}

/** Returns the relation in the form of the API; null where none was looked for. */
export function formatRelation({ relation }: RelatedMeasurement): RelatedInputs | null {
  return relation && { p: relation.p_value, clusters: relation.clusters, action: relation.action };
}
