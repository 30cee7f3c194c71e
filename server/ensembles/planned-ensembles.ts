/**
 * Definitions that an experiment stores for its planned ensemble runs. A definition that is deleted, and created again under
 * its id with other groups, must not change an experiment that has started.
 */
import type { Reader, Writer } from '../database/database.ts';

/** Stores the definitions in JSON, by id, for the planned runs of the owner. */
export async function insertPlannedEnsembles(
  tx: Writer,
  ownerUid: string,
  definitions: ReadonlyMap<string, string>,
): Promise<void> {
  // One statement for each: a definition may have 64 kB.
  for (const [ensemble_id, definition] of definitions)
    await tx
      .insertInto('planned_ensembles')
      .values({ owner_uid: ownerUid, ensemble_id, definition })
      .execute();
}

/** Returns the definition in JSON; undefined when its owner has ended or was deleted. */
export async function findPlannedEnsemble(
  db: Reader,
  ownerUid: string,
  ensembleId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('planned_ensembles')
    .select('definition')
    .where('owner_uid', '=', ownerUid)
    .where('ensemble_id', '=', ensembleId)
    .executeTakeFirst();
  return row?.definition;
}

/** Deletes the definitions of an owner whose planned runs are all created or deleted. */
export async function removePlannedEnsembles(tx: Writer, ownerUid: string): Promise<void> {
  await tx.deleteFrom('planned_ensembles').where('owner_uid', '=', ownerUid).execute();
}
