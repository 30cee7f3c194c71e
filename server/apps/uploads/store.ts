/** Statements on uploads. */
import { RUN_UPLOADS_BYTES_MAX, RUN_UPLOADS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import type { UploadsTable } from './schema.ts';

export async function insertUpload(tx: Writer, upload: UploadsTable): Promise<void> {
  await tx.insertInto('uploads').values(upload).execute();
}

/** Throws a 400 when the app of the run has requested as many uploads, or sent as many bytes, as one run can. */
export async function requireUploadCapacity(tx: Writer, run: RunId): Promise<void> {
  const { count, bytes } = await tx
    .selectFrom('uploads')
    .leftJoin('contents', 'contents.id', 'uploads.content_id')
    .where('uploads.run_id', '=', run)
    .select((eb) => [
      eb.fn.countAll().as('count'),
      eb.fn.sum(eb.fn.coalesce('contents.bytes', 'uploads.partial_bytes')).as('bytes'),
    ])
    .executeTakeFirstOrThrow();
  if (Number(count) < RUN_UPLOADS_MAX && Number(bytes) < RUN_UPLOADS_BYTES_MAX) return;
  throw badRequest(
    `The app of the run ${run} has requested ${count} uploads with ${bytes} bytes; one run can request ${RUN_UPLOADS_MAX}, and none after ${RUN_UPLOADS_BYTES_MAX} bytes. Divide the work among several runs.`,
  );
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

/**
 * Stores the content of the upload; returns false when the upload was removed or already has content. With `partialBytes` also
 * when its parts have another size together, because another request has appended one.
 */
export async function completeUpload(
  tx: Writer,
  { id, contentId, partialBytes }: { id: UploadId; contentId: string; partialBytes?: number | undefined },
): Promise<boolean> {
  let update = tx
    .updateTable('uploads')
    .set({ content_id: contentId })
    .where('id', '=', id)
    .where('content_id', 'is', null);
  if (partialBytes !== undefined) update = update.where('partial_bytes', '=', partialBytes);
  return (await update.executeTakeFirst()).numUpdatedRows === 1n;
}

export interface UploadPart {
  id: UploadId;
  /** The place of its first byte in the content. */
  firstByte: number;
  bytes: number;
  contentId: string;
}

/** Appends the part; returns false when it does not begin where the stored parts end, and for a closed upload. */
export async function appendPart(tx: Writer, part: UploadPart, now: number): Promise<boolean> {
  const { id, firstByte, bytes, contentId } = part;
  const { numUpdatedRows } = await tx
    .updateTable('uploads')
    .set({ partial_bytes: firstByte + bytes, continued_at: now })
    .where('id', '=', id)
    .where('content_id', 'is', null)
    .where('partial_bytes', '=', firstByte)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await tx
    .insertInto('upload_parts')
    .values({ upload_id: id, first_byte: firstByte, content_id: contentId })
    .execute();
  return true;
}

/** Lists the ids of the contents of the parts, in the order of their bytes. */
export async function listParts(db: Reader, id: UploadId): Promise<string[]> {
  const rows = await db
    .selectFrom('upload_parts')
    .select('content_id')
    .where('upload_id', '=', id)
    .orderBy('first_byte')
    .execute();
  return rows.map((row) => row.content_id);
}

/** Removes the parts of the uploads; returns the ids of their contents. */
export async function removeParts(tx: Writer, ids: readonly UploadId[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .deleteFrom('upload_parts')
    .where('upload_id', 'in', ids)
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}

/** Returns the ids of the contents of removed uploads, after it has removed their parts. */
async function removeUploadParts(
  tx: Writer,
  uploads: readonly Pick<UploadsTable, 'id' | 'content_id'>[],
): Promise<(string | null)[]> {
  const parts = await removeParts(
    tx,
    uploads.map(({ id }) => id),
  );
  return [...uploads.map(({ content_id }) => content_id), ...parts];
}

/** Removes at most `limit` uploads that were requested before the time; returns the ids of their contents and parts. */
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
    .returning(['id', 'content_id'])
    .execute();
  return removeUploadParts(tx, rows);
}

/** Removes at most `limit` uploads of an application; returns the ids of their contents and parts. */
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
    .returning(['id', 'content_id'])
    .execute();
  return removeUploadParts(tx, rows);
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
