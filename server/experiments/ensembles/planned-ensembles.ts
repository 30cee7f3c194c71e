/**
 * Definitions that an experiment stores for its planned ensemble runs. A definition that is deleted, and created again under
 * its id with other groups, must not change an experiment that has started.
 */
import type { Reader, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { EnsembleDefinition } from '../../runs/run-columns.ts';

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

const parseDefinition = parseColumn('planned_ensembles', 'ensemble_id', 'definition', EnsembleDefinition);

/** Returns the definition; undefined when its owner has ended or was deleted. */
export async function findPlannedEnsemble(
  db: Reader,
  ownerUid: string,
  ensembleId: string,
): Promise<EnsembleDefinition | undefined> {
  const row = await db
    .selectFrom('planned_ensembles')
    .select(['ensemble_id', 'definition'])
    .where('owner_uid', '=', ownerUid)
    .where('ensemble_id', '=', ensembleId)
    .executeTakeFirst();
  return row && parseDefinition(row);
}

/** Deletes the definitions of an owner whose planned runs are all created or deleted. */
export async function removePlannedEnsembles(tx: Writer, ownerUid: string): Promise<void> {
  await tx.deleteFrom('planned_ensembles').where('owner_uid', '=', ownerUid).execute();
}
