/** Operations on share links, and those that read a shared run without a token. */

import type { Share } from '@switchyard/contract/account/share-links.ts';
import { SHARE_HOURS_DEFAULT, SHARES_MAX } from '@switchyard/contract/limits.ts';
import { formatRfc3339 } from '../clock.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../http/errors/problem.ts';
import type { OperationHandler } from '../http/handlers/handler.ts';
import { makeId } from '../random.ts';
import { getOwnRun } from '../runs/api/own-run.ts';
import { lockRuns } from '../runs/tags/store.ts';
import type { RunSharesTable } from './schema.ts';
import type { ShareTokens } from './share-tokens.ts';
import { buildSharedRun, findSharedContent, findSharedRun, parseParts } from './shared-run.ts';
import * as store from './store.ts';

declare module '../http/handlers/context.ts' {
  interface Context {
    shareTokens: ShareTokens;
  }
}

const HOUR_MS = 60 * 60 * 1000;

export const createShare: OperationHandler<'createShare'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { clock, random } = context;
  const run = await getOwnRun(context, caller, params);
  const now = clock.now();
  const share: RunSharesTable = {
    id: makeId<string>(random, 'share'),
    run_id: run.id,
    application_uid: run.application_uid,
    parts: JSON.stringify([...new Set(body.parts)]),
    created_by: caller.email,
    created_at: now,
    expires_at: now + (body.expires_in_hours ?? SHARE_HOURS_DEFAULT) * HOUR_MS,
  };
  return commit(async (tx) => {
    // The lock keeps the run, so that no link is inserted for a run that is deleted meanwhile.
    if ((await lockRuns(tx, [run.id])).length === 0)
      throw notFound(`There is no run ${quoteValue(run.id)}; it was deleted meanwhile.`);
    if ((await store.listShares(tx, run.id, now)).length >= SHARES_MAX)
      throw badRequest(`The run has ${SHARES_MAX} share links, the most that it may have; revoke one first.`);
    await store.insertShare(tx, share);
    return { status: 201, body: formatShare(context, share) };
  });
};

export const listShares: OperationHandler<'listShares'> = async (context, { caller, params }) => {
  const run = await getOwnRun(context, caller, params);
  const shares = await store.listShares(context.database.read, run.id, context.clock.now());
  return { status: 200, body: { items: shares.map((share) => formatShare(context, share)) } };
};

export const revokeShare: OperationHandler<'revokeShare'> = async (context, { caller, params, commit }) => {
  const run = await getOwnRun(context, caller, params);
  return commit(async (tx) => {
    orThrow(await store.deleteShare(tx, run.id, params.share_id), () =>
      notFound(`There is no share link ${quoteValue(params.share_id)} of run ${quoteValue(run.id)}.`),
    );
    return { status: 204 };
  });
};

export const getSharedRun: OperationHandler<'getSharedRun'> = async (context, { params }) => {
  const { share, run } = await findSharedRun(context, params.share_token);
  return { status: 200, body: await buildSharedRun(context, share, run) };
};

export const getSharedContent: OperationHandler<'getSharedContent'> = async (context, { params }) => {
  const { share, run } = await findSharedRun(context, params.share_token);
  const { contentId, contentType } = await findSharedContent(context, share, run, params.part);
  const content = await context.contents.find(contentId);
  if (!content) throw notFound('The content was deleted.');
  const { id, bytes } = content;
  return { content: { id, bytes, contentType, open: (range) => content.open(range) } };
};

function formatShare(
  { shareTokens, publicUrl }: { shareTokens: ShareTokens; publicUrl(): string },
  share: RunSharesTable,
): Share {
  return {
    id: share.id,
    url: `${publicUrl()}/console/shared/${shareTokens.encode(share)}`,
    parts: parseParts(share),
    created_by: share.created_by,
    created_at: formatRfc3339(share.created_at),
    expires_at: formatRfc3339(share.expires_at),
  };
}
