/** The `definition` column of a bisect experiment. Pure. */
import { type InputId, idSchema, type VersionId } from '@switchyard/contract/schemas/ids.ts';
import Type, { type Static } from 'typebox';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { RunSettings } from './comparison-settings.ts';

const versionId = idSchema<VersionId>('A version.');

export const BisectDefinition = Type.Object({
  ...RunSettings.properties,
  /** Empty for managed inputs. */
  input_set_id: Type.String(),
  input_ids: Type.Array(idSchema<InputId>('An input.')),
  /** Empty for runs without the configuration of an instance. */
  instance_id: Type.String(),
  good_version_id: versionId,
  bad_version_id: versionId,
  indicator: Type.String(),
  direction: Type.Enum(['minimize', 'maximize']),
  difference: Type.Object({ type: Type.Enum(['relative', 'absolute']), value: Type.Number() }),
  confidence: Type.Number(),
  maximum_runs: Type.Number(),
  /** From the good version to the bad one, in the order of their creation. */
  version_ids: Type.Array(versionId),
});
export type BisectDefinition = Static<typeof BisectDefinition>;

export const parseBisectDefinition = parseColumn('experiments', 'uid', 'definition', BisectDefinition);
