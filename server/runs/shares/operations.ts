/** Operations on share links, and those that read a shared run without a token. */
import type { AccountShare, Share, SharedRun } from '@switchyard/contract/account/share-links.ts';
import { SHARED_PARTS, type SharedPart } from '@switchyard/contract/account/shared-parts.ts';
import { PAGE_ITEMS_MAX, SHARE_HOURS_DEFAULT, SHARES_MAX } from '@switchyard/contract/limits.ts';
import { stringEnum } from '@switchyard/contract/schemas/field-schemas.ts';
import type { AssetId } from '@switchyard/contract/schemas/ids.ts';
import Type from 'typebox';
import { lockMakerAccount } from '../../accounts/account/access-changes.ts';
import { listConfidentialOptions } from '../../apps/applications/executable.ts';
import { findExecutable } from '../../apps/applications/executables-store.ts';
import { findLiveApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatPage, parsePageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { makeId } from '../../platform/random.ts';
import { contentTypeForFormat } from '../api/content-responses.ts';
import { getOwnRun } from '../api/own-run.ts';
import { assetBody, runInformationBody } from '../api/run-body.ts';
import { parseExactIndicators, parseOptionsSummary } from '../run-columns.ts';
import { ALL_ASSETS, findAsset, listAssets } from '../store/assets.ts';
import { findRun } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { lockRuns } from '../tags/store.ts';
import type { RunSharesTable } from './schema.ts';
import type { ShareTokens } from './share-tokens.ts';
import * as store from './store.ts';
import { findShare } from './store.ts';

const HOUR_MS = 60 * 60 * 1000;

/**
 * Returns the parts that the link shows. Each read checks the link again, and returns bytes instead of download
 * URLs, because a URL would work for some minutes after the link is revoked.
 */
const parseParts = parseColumn(
  'run_shares',
  'id',
  'parts',
  Type.Array(stringEnum(SHARED_PARTS, 'A part of the run.')),
);

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
  const { application_id, application_name, run_id, run_name } = share;
  return { ...formatFields(share), application_id, application_name, run_id, run_name };
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

type Parts = Pick<Context, 'database' | 'clock' | 'contents' | 'shareTokens'>;

/** One message for every reason, so that nobody learns whether a link existed. */
const throwUnknownLink = (): never => {
  throw notFound('This link is unknown, expired or revoked; ask the person who sent it for a new one.');
};

/** Returns the link and its run. Throws a 404 unless the token is that of a link that works now. */
async function findSharedRun(
  { database, clock, shareTokens }: Parts,
  token: string,
): Promise<{ share: RunSharesTable; run: RunsTable }> {
  const share = await findShare(database.read, shareTokens.readId(token));
  if (!share || !shareTokens.matches(token, share) || share.expires_at <= clock.now())
    return throwUnknownLink();
  const application = await findLiveApplication(database.read, share.application_uid);
  const run = application && (await findRun(database.read, application.uid, share.run_id));
  return run ? { share, run } : throwUnknownLink();
}

/** Builds the chosen parts of the run. */
async function buildSharedRun(
  { database, clock, contents }: Parts,
  share: RunSharesTable,
  run: RunsTable,
): Promise<SharedRun> {
  const parts = parseParts(share);
  const db = database.read;
  const has = (part: SharedPart): boolean => parts.includes(part);
  const log = has('log') && run.log_content_id !== null ? await contents.find(run.log_content_id) : undefined;
  return {
    parts,
    expires_at: formatRfc3339(share.expires_at),
    ...(has('summary') && { summary: formatSummary(run, clock.now()) }),
    ...(has('indicators') && { indicators: parseExactIndicators(run) }),
    ...(has('options') && { options: await listVisibleOptions(db, run) }),
    ...(log && { log: { format: 'text' as const, size: log.bytes } }),
    ...(has('input') && { input: { format: run.input_format, size: run.input_bytes } }),
    ...(has('output') &&
      run.output_content_id !== null && { output: { format: run.output_format, size: run.output_bytes } }),
    ...(has('assets') && { assets: await listSharedAssets(db, run) }),
  };
}

function formatSummary(run: RunsTable, now: number) {
  const { metadata, ...info } = runInformationBody(run, new Set(), now, null);
  return {
    id: run.id,
    name: info.name,
    description: info.description,
    application_id: info.application_id,
    application_instance_id: info.application_instance_id,
    application_version_id: info.application_version_id,
    status_v2: info.status_v2,
    created_at: info.created_at,
    ...(metadata.finished_at === undefined ? {} : { finished_at: metadata.finished_at }),
    execution_duration: metadata.execution_duration,
    error: metadata.error,
  };
}

/** Lists the options without those that are hidden from any role: a reader of the link has none. */
async function listVisibleOptions(db: Reader, run: RunsTable) {
  const executable = await findExecutable(db, run.executable_id);
  const hidden = executable ? listConfidentialOptions(executable) : new Set<string>();
  return parseOptionsSummary(run)
    .filter(({ name }) => !hidden.has(name))
    .map(({ name, value }) => ({ name, value }));
}

async function listSharedAssets(db: Reader, run: RunsTable) {
  return (await listAssets(db, run.id, ALL_ASSETS)).map((row) => {
    const { id, name, description, size, visual } = assetBody(row);
    return { id, name, description, size, ...(visual === undefined ? {} : { visual }) };
  });
}

/** Finds a chosen content: `input`, `output`, `log` or an asset. Throws a 404 for any other. */
async function findSharedContent(
  { database }: Parts,
  share: RunSharesTable,
  run: RunsTable,
  part: AssetId,
): Promise<{ contentId: string; contentType: string }> {
  const parts = parseParts(share);
  const contentTypes = {
    input: contentTypeForFormat(run.input_format),
    output: contentTypeForFormat(run.output_format),
    log: contentTypeForFormat('text'),
  };
  const contentIds = {
    input: run.input_content_id,
    output: run.output_content_id,
    log: run.log_content_id,
  };
  for (const name of ['input', 'output', 'log'] as const) {
    const contentId = contentIds[name];
    if (part.valueOf() === name && parts.includes(name) && contentId !== null)
      return { contentId, contentType: contentTypes[name] };
  }
  const asset = parts.includes('assets') ? await findAsset(database.read, run.id, part) : undefined;
  if (!asset) throw notFound('This link does not show that content.');
  return { contentId: asset.content_id, contentType: contentTypeForFormat('json') };
}
