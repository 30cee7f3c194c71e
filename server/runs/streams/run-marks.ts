/** One statement that says which of the streamed runs have changed, so that the rows of the others are not read. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import { splitIntoBatches } from '../../platform/database/id-batches.ts';

/**
 * Returns a text for each run that changes with its status, its lines and its points. A run that was deleted has none. Nor
 * has an ensemble run, whose lines are those of its child runs.
 */
export async function findRunMarks(db: Reader, ids: readonly RunId[]): Promise<Map<RunId, string>> {
  const marks = new Map<RunId, string>();
  for (const batch of splitIntoBatches(ids))
    for (const { id, status, lines, points } of await selectMarks(db, batch))
      marks.set(id, `${status} ${lines} ${points}`);
  return marks;
}

function selectMarks(db: Reader, ids: readonly RunId[]) {
  return db
    .selectFrom('runs')
    .innerJoin('applications', 'applications.uid', 'runs.application_uid')
    .select((eb) => [
      'runs.id',
      'runs.status',
      eb
        .selectFrom('log_chunks')
        .select(({ fn }) => fn.max('seq').as('seq'))
        .whereRef('log_chunks.run_id', '=', 'runs.id')
        .as('lines'),
      eb
        .selectFrom('run_series')
        .select(({ fn }) => fn.max('seq').as('seq'))
        .whereRef('run_series.run_id', '=', 'runs.id')
        .as('points'),
    ])
    .where('runs.id', 'in', ids)
    .where('runs.run_type', '!=', 'ensemble')
    .where('applications.deleted_at', 'is', null)
    .execute();
}
