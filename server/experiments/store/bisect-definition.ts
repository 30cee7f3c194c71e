/** The `definition` column of a bisect experiment. Pure. */
import type { InputId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { ExperimentsTable } from './schema.ts';

export interface BisectDefinition {
  /** Empty for managed inputs. */
  input_set_id: string;
  input_ids: InputId[];
  /** Empty for runs without the configuration of an instance. */
  instance_id: string;
  good_version_id: VersionId;
  bad_version_id: VersionId;
  indicator: string;
  direction: 'minimize' | 'maximize';
  difference: { type: 'relative' | 'absolute'; value: number };
  confidence: number;
  maximum_runs: number;
  /** From the good version to the bad one, in the order of their creation. */
  version_ids: VersionId[];
}

/** Parses the definition column of a bisect experiment. */
export function parseBisectDefinition({
  definition,
}: Pick<ExperimentsTable, 'definition'>): BisectDefinition {
  const parsed: BisectDefinition = JSON.parse(definition);
  return parsed;
}
