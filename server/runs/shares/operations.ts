/** Operations on share links, and those that read a shared run without a token. */

import type { AccountShare, Share } from '@switchyard/contract/account/share-links.ts';
import { PAGE_ITEMS_MAX, SHARE_HOURS_DEFAULT, SHARES_MAX } from '@switchyard/contract/limits.ts';
import { lockMakerAccount } from '../../accounts/account/access-changes.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatPage, parsePageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { makeId } from '../../platform/random.ts';
import { getOwnRun } from '../api/own-run.ts';
import { lockRuns } from '../tags/store.ts';
import type { RunSharesTable } from './schema.ts';
import type { ShareTokens } from './share-tokens.ts';
import { buildSharedRun, findSharedContent, findSharedRun, parseParts } from './shared-run.ts';
import * as store from './store.ts';

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
    created_by_key: caller.key,
    created_at: now,
    expires_at: now + (body.expires_in_hours ?? SHARE_HOURS_DEFAULT) * HOUR_MS,
    account_id: caller.account,
    views: 0,
    last_viewed_at: null,
    audited_at: null,
  };
  return commit(async (tx) => {
    await lockMakerAccount(tx, caller);
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
  const items = await formatReadableRows(context.log, shares, (some) =>
    some.map((share) => formatShare(context, share)),
  );
  return { status: 200, body: { items } };
};

/** Lists the links of the account. A caller that does not page gets the first page. */
export const listAccountShares: OperationHandler<'listAccountShares'> = async (
  { database, clock, pageTokens, log },
  { caller, query },
) => {
  const list = `shares of ${caller.account}`;
  const { after, limit } = parsePageRequest(pageTokens, list, query);
  const request = { after, limit: limit ?? PAGE_ITEMS_MAX };
  const rows = await store.listAccountShares(database.read, caller.account, clock.now(), request);
  const page = slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  const items = await formatReadableRows(log, page.items, (some) => some.map(formatAccountShare));
  return { status: 200, body: formatPage(pageTokens, list, { ...page, items }) };
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

export const getSharedRun: OperationHandler<'getSharedRun'> = async (context, { params, address }) => {
  const { share, run } = await findSharedRun(context, params.share_token);
  await context.shareViews.count(share, address);
  return { status: 200, body: await buildSharedRun(context, share, run) };
};

export const getSharedContent: OperationHandler<'getSharedContent'> = async (
  context,
  { params, address },
) => {
  const { share, run } = await findSharedRun(context, params.share_token);
  const { contentId, contentType } = await findSharedContent(context, share, run, params.part);
  const content = await context.contents.find(contentId);
  if (!content) throw notFound('The content was deleted.');
  await context.shareViews.auditRead(share, address);
  const { id, bytes } = content;
  return { content: { id, bytes, contentType, open: (range) => content.open(range) } };
};

function formatShare(
  { shareTokens, publicUrl }: { shareTokens: ShareTokens; publicUrl(): string },
  share: RunSharesTable,
): Share {
  return {
    ...formatFields(share),
    url: `${publicUrl()}/console/shared/${shareTokens.encode(share)}`,
  };
}

function formatAccountShare(share: store.AccountShareRow): AccountShare {
  const { application_id, run_id, run_name } = share;
  return { ...formatFields(share), application_id, run_id, run_name };
}

function formatFields(share: RunSharesTable): Omit<Share, 'url'> {
  return {
    id: share.id,
    parts: parseParts(share),
    created_by: share.created_by,
    created_at: formatRfc3339(share.created_at),
    expires_at: formatRfc3339(share.expires_at),
    views: Number(share.views),
    last_viewed_at: share.last_viewed_at === null ? null : formatRfc3339(Number(share.last_viewed_at)),
  };
}
