/** Operations behind signed URLs: send an upload, read a download. */
import { RUN_PROOF_HEADER } from '@switchyard/contract/run-proof-header.ts';
import type { KeyId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import { findKey } from '../account/store.ts';
import type { Reader } from '../database/database.ts';
import { badRequest, forbidden, notFound, quoteValue } from '../http/errors/problem.ts';
import type { Member, OperationHandler, Owner } from '../http/handlers/handler.ts';
import type { UrlSigner } from '../http/requests/signed-url.ts';
import { completeUpload, findUpload } from './store.ts';
import { storeStream } from './store-stream.ts';

declare module '../http/handlers/context.ts' {
  interface Context {
    signer: UrlSigner;
    /** Returns the account and id of an application; undefined when it was removed. */
    findApplicationOwner(db: Reader, applicationUid: string): Promise<Owner | undefined>;
    /**
     * Returns the member of the run whose app requested an upload with its run token. Returns null once the token has ended,
     * and when the proof is not that of the run.
     */
    findRunCaller(id: string, proof: string): Promise<Member | null>;
  }
}

/** The upload already has its content, or was removed. */
class UploadClosedError extends Error {}

export const putUpload: OperationHandler<'putUpload'> = async (
  { database, contents, signer, findApplicationOwner, findRunCaller },
  { params, query, headers, stream, reserveStreamMemory, setOwner, commit },
) => {
  const { key = '' } = query;
  const refusal = signer.findRejection('PUT', `/v1/uploads/${params.upload_id}`, query, { key });
  if (refusal) throw forbidden(refusal);
  const proof = headers[RUN_PROOF_HEADER];
  // The app of a run cannot use the URL of a key, which may be of another account.
  const requester =
    proof === undefined
      ? await findMember(database.read, key as KeyId)
      : await findRunCaller(key, String(proof));
  if (!requester)
    throw forbidden(
      'The key that requested the URL was revoked, or the run that requested it has ended or is another one. Request a new URL.',
    );
  const upload = await findUpload(database.read, params.upload_id);
  if (!upload) throw notFound(`There is no upload ${quoteValue(params.upload_id)}.`);
  if (upload.content_id !== null) throw urlAlreadyUsed();
  const owner = await findApplicationOwner(database.read, upload.application_uid);
  if (owner) setOwner(owner);
  await reserveStreamMemory(requester);
  const content = await storeStream(contents, stream);
  try {
    return await commit(async (tx) => {
      if (!(await completeUpload(tx, upload.id, content.id))) throw new UploadClosedError();
      await content.insert(tx);
      return { status: 200 };
    });
  } catch (error) {
    if (!(error instanceof UploadClosedError)) throw error;
    await content.discard().catch(() => {});
    throw await explainClosedUpload(database.read, upload.id);
  }
};

export const getDownload: OperationHandler<'getDownload'> = async (
  { contents, signer },
  { params, query },
) => {
  const type = query.type ?? '';
  const refusal = signer.findRejection('GET', `/v1/downloads/${params.download_id}`, query, { type });
  if (refusal) throw forbidden(refusal);
  const content = await contents.find(params.download_id);
  if (!content) throw notFound('The content was deleted.');
  const { id, bytes } = content;
  return { content: { id, bytes, contentType: type, open: (range) => content.open(range) } };
};

async function findMember(db: Reader, id: KeyId): Promise<Member | null> {
  const key = await findKey(db, id);
  return key ? { account: key.account_id, owner: key.owner } : null;
}

function urlAlreadyUsed() {
  return badRequest('The upload URL was used already; request a new one.');
}

/** Returns the error for an upload that was completed or removed while its body arrived. */
async function explainClosedUpload(db: Reader, id: UploadId) {
  if (await findUpload(db, id)) return urlAlreadyUsed();
  return notFound(`The upload ${quoteValue(id)} was removed meanwhile.`);
}
