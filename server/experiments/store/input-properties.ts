/** The table of the inputs' properties: one row for each batch that has clusterings or features. */
import type { Reader, Writer } from '../../database/database.ts';

/** The properties of one input of an experiment. */
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

/** Returns the properties of the inputs; empty for an experiment without any. */
export async function findInputProperties(db: Reader, uid: string): Promise<InputProperties[]> {
  const row = await db
    .selectFrom('experiment_input_properties')
    .select('properties')
    .where('experiment_uid', '=', uid)
    .executeTakeFirst();
  return row ? JSON.parse(row.properties) : [];
}
