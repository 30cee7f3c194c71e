/** The table of the inputs' properties: one row for each experiment that clusters by fields or has features. */
import Type, { type Static } from 'typebox';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';

/** The properties of one input of an experiment. In a shadow test, each original is an input of no set. */
const InputProperties = Type.Object({
  input_set_id: Type.String(),
  input_id: Type.String(),
  /** The cluster of the input in each clustering; without an entry, the input has none. */
  clusters: Type.Record(Type.String(), Type.String()),
  /** The value of each feature; without an entry, the input has none. */
  features: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String()])),
});
export type InputProperties = Static<typeof InputProperties>;

const parseProperties = parseColumn(
  'experiment_input_properties',
  'experiment_uid',
  'properties',
  Type.Array(InputProperties),
);

/** Stores the properties of the inputs; nothing for an experiment without any. */
export async function insertInputProperties(
  tx: Writer,
  uid: string,
  properties: readonly InputProperties[],
): Promise<void> {
  if (properties.length === 0) return;
  await tx
    .insertInto('experiment_input_properties')
    .values({ experiment_uid: uid, properties: JSON.stringify(properties) })
    .execute();
}

/** Replaces the properties of the inputs. Read the earlier ones in the same transaction, which has locked the experiment. */
export async function replaceInputProperties(
  tx: Writer,
  uid: string,
  inputs: readonly InputProperties[],
): Promise<void> {
  const properties = JSON.stringify(inputs);
  await tx
    .insertInto('experiment_input_properties')
    .values({ experiment_uid: uid, properties })
    .onConflict((conflict) => conflict.column('experiment_uid').doUpdateSet({ properties }))
    .execute();
}

/** Returns the properties of the inputs; empty for an experiment without any. */
export async function findInputProperties(db: Reader, uid: string): Promise<InputProperties[]> {
  const row = await db
    .selectFrom('experiment_input_properties')
    .select(['experiment_uid', 'properties'])
    .where('experiment_uid', '=', uid)
    .executeTakeFirst();
  return row ? parseProperties(row) : [];
}
