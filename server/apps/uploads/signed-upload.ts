/** Access to an upload by its signed URL. */
import { UPLOAD_RETENTION_MS } from '@switchyard/contract/limits.ts';
import { RUN_PROOF_HEADER } from '@switchyard/contract/run-proof-header.ts';
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import { findKey } from '../../accounts/account/store.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, forbidden, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Member, OperationCall } from '../../platform/http/handlers/handler.ts';
import type { UploadsTable } from './schema.ts';
import { findUpload } from './store.ts';

/** The upload of a signed URL, and the member that requested the URL. */
interface SignedUpload {
  upload: UploadsTable;
  requester: Member;
}

/**
 * Returns the upload that the signed URL of a request names. The first stored part makes the URL valid as long as the parts are
 * stored. Throws a 403 for an invalid URL, and a 404 for a removed upload.
 */
export async function findSignedUpload(
  { database, signer, findRunCaller }: Context,
  { params, query, headers }: Pick<OperationCall<'getUpload'>, 'params' | 'query' | 'headers'>,
): Promise<SignedUpload> {
  const { key } = query;
  const upload = await findUpload(database.read, params.upload_id);
  const renewedUntil = upload?.continued_at ? upload.created_at + UPLOAD_RETENTION_MS : 0;
  const refusal = signer.findRejection(
    'PUT',
    `/v1/uploads/${params.upload_id}`,
    { ...query, renewedUntil },
    { key: key ?? '' },
  );
  if (refusal) throw forbidden(refusal);
  const proof = headers[RUN_PROOF_HEADER];
  // The app of a run cannot use the URL of a key, which may be of another account.
  const requester =
    key &&
    (proof === undefined ? await findMember(database.read, key) : await findRunCaller(key, String(proof)));
  if (!requester)
    throw forbidden(
      'The key that requested the URL was revoked, or the run that requested it has ended or is another one. Request a new URL.',
    );
  if (!upload) throw notFound(`There is no upload ${quoteValue(params.upload_id)}.`);
  return { upload, requester };
}

/** Returns the error for an upload that has its content. */
export function urlAlreadyUsed() {
  return badRequest('The upload URL was used already; request a new one.');
}

async function findMember(db: Reader, id: KeyId): Promise<Member | null> {
  const key = await findKey(db, id);
  return key ? { account: key.account_id, owner: key.owner } : null;
}
