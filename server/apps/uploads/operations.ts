/** Operations behind signed URLs: send an upload, whole or in parts, and read a download. */
import { UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { forbidden, notFound } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { HandlerResult, OperationCall, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { EMPTY_ARCHIVE_ID, respondWithEmptyArchive } from './empty-archive.ts';
import {
  checkPart,
  checkReceivedPart,
  completeWith,
  explainClosedUpload,
  formatUploadHeaders,
  insertPart,
  joinParts,
  type PartHeaders,
  type ReceivedPart,
  readPartHeaders,
  UploadClosedError,
} from './parts.ts';
import { findSignedUpload, urlAlreadyUsed } from './signed-upload.ts';
import { storePart, storeStream } from './store-stream.ts';

export const putUpload: OperationHandler<'putUpload'> = async (context, call) => {
  const { database, contents, findApplicationOwner } = context;
  const { upload, requester } = await findSignedUpload(context, call);
  if (upload.content_id !== null) throw urlAlreadyUsed();
  const owner = await findApplicationOwner(database.read, upload.application_uid);
  if (owner) call.setOwner(owner);
  await call.reserveStreamMemory(requester);
  const content = await storeStream(contents, call.stream);
  try {
    return await call.commitThen(
      (tx) => completeWith(tx, contents, { id: upload.id, content }),
      async (blobs) => {
        await contents.removeBlobs(blobs).catch(() => {});
        return { status: 200 };
      },
    );
  } catch (error) {
    if (!(error instanceof UploadClosedError)) throw error;
    await content.discard().catch(() => {});
    throw await explainClosedUpload(database.read, upload.id, null);
  }
};

export const getUpload: OperationHandler<'getUpload'> = async (context, call) => {
  await context.uploads.waitForCutPart(call.params.upload_id);
  const { upload } = await findSignedUpload(context, call);
  const content = upload.content_id === null ? undefined : await context.contents.find(upload.content_id);
  const isComplete = upload.content_id !== null;
  const offset = content?.bytes ?? upload.partial_bytes;
  return {
    status: 200,
    body: { offset, complete: isComplete },
    headers: {
      ...formatUploadHeaders(offset, isComplete),
      'upload-limit': `max-size=${UPLOAD_BYTES_MAX}`,
      'cache-control': 'no-store',
    },
  };
};

export const appendUpload: OperationHandler<'appendUpload'> = async (context, call) => {
  const { database, contents, uploads, findApplicationOwner } = context;
  const headers = readPartHeaders(call.headers);
  await uploads.waitForCutPart(call.params.upload_id);
  const { upload, requester } = await findSignedUpload(context, call);
  await checkPart(database.read, upload, headers);
  const owner = await findApplicationOwner(database.read, upload.application_uid);
  if (owner) call.setOwner(owner);
  await call.reserveStreamMemory(requester);
  const { id } = upload;
  let endCutPart = (): void => {};
  try {
    const received = await storePart(contents, call.stream, {
      bytesBefore: headers.offset,
      onCut: () => {
        endCutPart = uploads.beginCutPart(id);
      },
    });
    return await commitPart(context, call, { ...headers, ...received, id, firstByte: headers.offset });
  } finally {
    endCutPart();
  }
};

/** Stores the row of a part, and completes the upload after the last one. Removes the bytes of a part that is refused. */
async function commitPart(
  context: Context,
  call: OperationCall<'appendUpload'>,
  part: ReceivedPart & PartHeaders & { isCut: boolean },
): Promise<HandlerResult<'appendUpload'>> {
  const { database, clock } = context;
  const { id, firstByte, content } = part;
  try {
    checkReceivedPart(part, { bytes: content.bytes, isCut: part.isCut });
    if (part.isLast && !part.isCut) return await completeParts(context, call, part);
    return await call.commitThen(
      (tx) => insertPart(tx, part, clock.now()),
      () => ({ status: 204, headers: formatUploadHeaders(firstByte + content.bytes, false) }),
    );
  } catch (error) {
    await content.discard().catch(() => {});
    if (!(error instanceof UploadClosedError)) throw error;
    throw await explainClosedUpload(database.read, id, firstByte);
  }
}

/** Stores the last part, joins all of them and completes the upload. */
async function completeParts(
  { database, contents, uploads }: Context,
  call: OperationCall<'appendUpload'>,
  part: ReceivedPart,
): Promise<HandlerResult<'appendUpload'>> {
  const { id, firstByte, content } = part;
  const bytes = firstByte + content.bytes;
  const isWhole = firstByte === 0;
  // The last part is durable before the parts are joined, so that an interruption costs the caller nothing.
  if (!isWhole && content.bytes > 0) await uploads.storePart(part);
  const whole = isWhole ? content : await joinParts(contents, database.read, id);
  try {
    return await call.commitThen(
      (tx) => completeWith(tx, contents, { id, content: whole, partialBytes: isWhole ? 0 : bytes }),
      async (blobs) => {
        await contents.removeBlobs(blobs).catch(() => {});
        if (!isWhole && content.bytes === 0) await content.discard().catch(() => {});
        return { status: 200, headers: formatUploadHeaders(bytes, true) };
      },
    );
  } catch (error) {
    await whole.discard().catch(() => {});
    throw error;
  }
}

export const getDownload: OperationHandler<'getDownload'> = async (
  { contents, signer },
  { params, query },
) => {
  const type = query.type ?? '';
  const refusal = signer.findRejection('GET', `/v1/downloads/${params.download_id}`, query, { type });
  if (refusal) throw forbidden(refusal);
  if (params.download_id === EMPTY_ARCHIVE_ID) return respondWithEmptyArchive(type);
  const content = await contents.find(params.download_id);
  if (!content) throw notFound('The content was deleted.');
  const { id, bytes } = content;
  return { content: { id, bytes, contentType: type, open: (range) => content.open(range) } };
};
