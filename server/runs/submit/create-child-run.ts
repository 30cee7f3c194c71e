/** Creates the run that the app of a workflow requests, or finds the one that an earlier attempt of it created. */
import { createHash } from 'node:crypto';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { PreparedContent } from '../../platform/blobs/contents.ts';
import type { Writer } from '../../platform/database/database.ts';
import type { Committed } from '../../platform/http/handlers/commit.ts';
import type { CallingRun, OperationCall } from '../../platform/http/handlers/handler.ts';
import { claimChild } from '../workflows/children.ts';
import { type CreateRunContext, submitRequestedRun } from './create-run.ts';

/** More than a workflow has equal requests at the same time. */
const TRIES_MAX = 100;

/** Rolls the transaction back: whether an earlier attempt created the run is not as it seemed. */
class RepeatedChildError extends Error {}

type CreatedResponse = { status: 202; body: { run_id: RunId } };

/**
 * Creates the run in one transaction with its entry among the child runs of `parent`. A repeated request gets the run of the
 * earlier one. Throws what `submitRequestedRun` throws, and a 401 when the attempt of the parent has ended.
 */
export async function createChildRun(
  context: CreateRunContext,
  call: OperationCall<'createRun'>,
  parent: CallingRun,
): Promise<Committed<CreatedResponse>> {
  const commit = (work: (tx: Writer) => Promise<RunId>) =>
    call.commit(async (tx) => ({ status: 202, body: { run_id: await work(tx) } }));
  let fingerprint = '';
  const claim = (tx: Writer, newId: RunId | null) =>
    claimChild(tx, { parent, fingerprint, newId, now: context.clock.now() });
  const create = () =>
    submitRequestedRun(context, call, {
      // The claim locks the parent, so the transaction is no mere insert.
      store: (insert) => commit(async (tx) => (await insert(tx)).id),
      workflow: parent,
      onInput: (input) => {
        fingerprint = computeFingerprint(call, input);
      },
      inTransaction: async (tx, newId) => {
        if ((await claim(tx, newId)) !== null) throw new RepeatedChildError();
      },
    });
  const find = () =>
    commit(async (tx) => {
      const repeated = await claim(tx, null);
      if (repeated === null) throw new RepeatedChildError();
      return repeated;
    });
  for (let tries = 1; ; tries += 1) {
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof RepeatedChildError)) throw error;
    }
    try {
      return await find();
    } catch (error) {
      // A request of the same content, at the same time, has got that run.
      if (!(error instanceof RepeatedChildError) || tries >= TRIES_MAX) throw error;
    }
  }
}

/** Returns SHA-256 over everything that the request says, with the content of its input in place of an id of an upload. */
function computeFingerprint(
  { params, query, body }: Pick<OperationCall<'createRun'>, 'params' | 'query' | 'body'>,
  content: Pick<PreparedContent, 'id' | 'sha256'>,
): string {
  const { input, upload_id, ...rest } = body;
  const parts = [params.application_id, query.instance_id ?? '', content.sha256, rest];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
