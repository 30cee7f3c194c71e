/** The table of the inputs' properties: one row for each experiment that clusters by fields or has features. */
import type { Reader, Writer } from '../../database/database.ts';

/** The properties of one input of an experiment. In a shadow test, each original is an input of no set. */
export interface InputProperties {
  input_set_id: string;
  input_id: string;
  /** The cluster of the input in each clustering; without an entry, the input has none. */
  clusters: Record<string, string>;
  /** The value of each feature; without an entry, the input has none. */
  features: Record<string, number | string>;
}

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
    .select('properties')
    .where('experiment_uid', '=', uid)
    .executeTakeFirst();
  return row ? JSON.parse(row.properties) : [];
}
