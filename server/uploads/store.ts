/** Statements on uploads. */
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../database/database.ts';
import type { UploadsTable } from './schema.ts';

export async function insertUpload(tx: Writer, upload: UploadsTable): Promise<void> {
  await tx.insertInto('uploads').values(upload).execute();
}

export function findUpload(db: Reader, id: UploadId): Promise<UploadsTable | undefined> {
  return db.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Returns the upload that was requested last, with or without its body. */
export function findLatestUpload(
  db: Reader,
  applicationUid: string,
  purpose: UploadsTable['purpose'],
): Promise<UploadsTable | undefined> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('purpose', '=', purpose)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Stores the content of the upload; returns false when the upload was removed or already has content. */
export async function completeUpload(tx: Writer, id: UploadId, contentId: string): Promise<boolean> {
  const result = await tx
    .updateTable('uploads')
    .set({ content_id: contentId })
    .where('id', '=', id)
    .where('content_id', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Removes at most `limit` uploads that were requested before the time; returns the ids of their contents. */
export async function deleteUploadsBefore(
  tx: Writer,
  before: number,
  limit: number,
): Promise<(string | null)[]> {
  const rows = await tx
    .deleteFrom('uploads')
    .where('id', 'in', (eb) =>
      eb.selectFrom('uploads').select('id').where('created_at', '<', before).limit(limit),
    )
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}

/** Removes at most `limit` uploads of an application; returns the ids of their contents. */
export async function removeUploads(
  tx: Writer,
  applicationUid: string,
  limit: number,
): Promise<(string | null)[]> {
  const rows = await tx
    .deleteFrom('uploads')
    .where('id', 'in', (eb) =>
      eb.selectFrom('uploads').select('id').where('application_uid', '=', applicationUid).limit(limit),
    )
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}

/** Counts the result files of an attempt, and sums their bytes. */
export async function countAttemptUploads(
  db: Reader,
  attempt: string,
): Promise<{ files: number; bytes: number }> {
  const { files, bytes } = await db
    .selectFrom('uploads')
    .innerJoin('contents', 'contents.id', 'uploads.content_id')
    .select((eb) => [eb.fn.countAll().as('files'), eb.fn.sum('contents.bytes').as('bytes')])
    .where('attempt', '=', attempt)
    .executeTakeFirstOrThrow();
  return { files: Number(files), bytes: Number(bytes ?? 0) };
}

/** Lists attempts that have result files, in the order of their keys. */
export async function listUploadAttempts(db: Reader, limit: number, after: string | null): Promise<string[]> {
  const rows = await db
    .selectFrom('uploads')
    .select('attempt')
    .distinct()
    .where('attempt', '>', after ?? '')
    .orderBy('attempt')
    .limit(limit)
    .execute();
  return rows.flatMap(({ attempt }) => attempt ?? []);
}

/** Removes the result files of an attempt; returns the ids of their contents. */
export async function deleteAttemptUploads(tx: Writer, attempt: string): Promise<(string | null)[]> {
  const rows = await tx
    .deleteFrom('uploads')
    .where('attempt', '=', attempt)
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}
