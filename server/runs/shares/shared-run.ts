/**
 * The part of a run that a share link shows. Each read checks the link again, and returns bytes instead of download URLs,
 * because a URL would work for some minutes after the link is revoked.
 */

import { SHARED_PARTS, type SharedPart, type SharedRun } from '@switchyard/contract/account/share-links.ts';
import { stringEnum } from '@switchyard/contract/schemas/field-schemas.ts';
import type { AssetId } from '@switchyard/contract/schemas/ids.ts';
import Type from 'typebox';
import { listConfidentialOptions } from '../../apps/applications/executable.ts';
import { findExecutable } from '../../apps/applications/executables-store.ts';
import { findLiveApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { notFound } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { contentTypeForFormat } from '../api/content-responses.ts';
import { assetBody, runInformationBody } from '../api/run-body.ts';
import { parseIndicators, parseOptionsSummary } from '../run-columns.ts';
import { ALL_ASSETS, findAsset, listAssets } from '../store/assets.ts';
import { findRun } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import type { RunSharesTable } from './schema.ts';
import { findShare } from './store.ts';

type Parts = Pick<Context, 'database' | 'clock' | 'contents' | 'shareTokens'>;

/** Returns the parts that the link shows. */
export const parseParts = parseColumn(
  'run_shares',
  'id',
  'parts',
  Type.Array(stringEnum(SHARED_PARTS, 'A part of the run.')),
);

/** One message for every reason, so that nobody learns whether a link existed. */
const throwUnknownLink = (): never => {
  throw notFound('This link is unknown, expired or revoked; ask the person who sent it for a new one.');
};

/** Returns the link and its run. Throws a 404 unless the token is that of a link that works now. */
export async function findSharedRun(
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
export async function buildSharedRun(
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
    ...(has('indicators') && { indicators: parseIndicators(run) }),
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
export async function findSharedContent(
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
