/** Operations on managed inputs. */
import type { Input, InputCreate } from '@switchyard/contract/applications/inputs.ts';
import type { InputId, RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication, lockApplication } from '../../apps/applications/store.ts';
import { ContentRemovedError, type SharedContent } from '../../platform/blobs/contents.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import {
  badRequest,
  orThrow,
  type Problem,
  quoteValue,
  reportMissing,
  reportTaken,
} from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { prefersRepresentation } from '../../platform/http/requests/prefer-header.ts';
import { pickTexts } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import { contentTypeForFormat } from '../api/content-responses.ts';
import { findRun } from '../store/runs.ts';
import type { InputsTable } from './schema.ts';
import { toInputFormat } from './share-input.ts';
import * as store from './store.ts';

export const createInput: OperationHandler<'createInput'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { database, clock, random } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const { content, ...source } = await readInputSource(context, application, body);
  const now = clock.now();
  const id = body.id ?? makeId<InputId>(random, 'input');
  const row: InputsTable = {
    application_uid: application.uid,
    id,
    name: body.name ?? id,
    description: body.description ?? '',
    ...source,
    content_id: content.id,
    created_at: now,
    updated_at: now,
  };
  return commit(async (tx) => {
    await lockApplication(tx, application);
    if (!(await store.insertInput(tx, row))) throw reportTaken('input', id);
    await content.insert(tx).catch((error: unknown) => {
      throw error instanceof ContentRemovedError ? contentRemovedProblem(row) : error;
    });
    return { status: 201, body: formatInput(context, application, row) };
  });
};

export const listInputs: OperationHandler<'listInputs'> = async (context, { caller, params, query }) => {
  const { database } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  return respondWithList(context, {
    tokenScope: `inputs ${application.uid}`,
    query,
    queryRows: (page) => store.listInputs(database.read, application.uid, page),
    formatBodies: (rows) => rows.map((row) => formatInput(context, application, row)),
  });
};

export const getInput: OperationHandler<'getInput'> = async (context, { caller, params }) => {
  const { database } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const row = await store.findInput(database.read, application.uid, params.input_id);
  if (!row) throw reportMissing('input', params.input_id, application);
  return { status: 200, body: formatInput(context, application, row) };
};

export const updateInput: OperationHandler<'updateInput'> = async (
  context,
  { caller, params, body, headers, commit },
) => {
  const { database, clock } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const changes = pickTexts(body);
  return commit(async (tx) => {
    const { updated_at } = orThrow(await store.lockInput(tx, application.uid, params.input_id), () =>
      reportMissing('input', params.input_id, application),
    );
    requireUnchanged({ noun: `input ${quoteValue(params.input_id)}`, updatedAt: updated_at }, body);
    const dated = { ...changes, updated_at: computeUpdateTime(clock.now(), { updated_at }) };
    const changed = orThrow(await store.updateInput(tx, application.uid, params.input_id, dated), () =>
      reportMissing('input', params.input_id, application),
    );
    if (!prefersRepresentation(headers)) return { status: 204 };
    return {
      status: 200,
      body: formatInput(context, application, changed),
      headers: { 'preference-applied': 'return=representation' },
    };
  });
};

export const deleteInput: OperationHandler<'deleteInput'> = async (
  { database, contents },
  { caller, params, commitThen },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  return commitThen(
    async (tx) => {
      const content = await store.deleteInput(tx, application.uid, params.input_id);
      if (content === undefined) throw reportMissing('input', params.input_id, application);
      return contents.remove(tx, [content]);
    },
    async (blobs) => {
      await contents.removeBlobs(blobs);
      return { status: 204 };
    },
  );
};

/** Formats the input with a signed URL to download its content. */
function formatInput(
  { uploads }: Pick<Context, 'uploads'>,
  application: ApplicationsTable,
  row: InputsTable,
): Input {
  return {
    id: row.id,
    app_id: application.id,
    name: row.name,
    description: row.description,
    ...(row.run_id === null ? {} : { run_id: row.run_id }),
    ...(row.upload_id === null ? {} : { upload_id: row.upload_id }),
    format: toInputFormat(row),
    download_url: uploads.downloadUrl(row.content_id, contentTypeForFormat(row.input_format)),
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

type Source = Pick<InputsTable, 'run_id' | 'upload_id' | 'input_format' | 'output_format'>;

/**
 * Returns the columns of the source and its shared content. Throws a 400 when the request names both sources or neither, and
 * when the upload or run does not exist.
 */
async function readInputSource(
  { database, contents, uploads }: Pick<Context, 'database' | 'contents' | 'uploads'>,
  application: ApplicationsTable,
  { upload_id, run_id, format }: InputCreate,
): Promise<Source & { content: SharedContent }> {
  const uploadId: UploadId | null = upload_id ?? null;
  const runId: RunId | null = run_id ?? null;
  if (uploadId !== null) {
    if (runId !== null)
      throw badRequest(
        `upload_id is ${quoteValue(uploadId)} and run_id is ${quoteValue(runId)}; give one of them.`,
      );
    return {
      run_id: null,
      upload_id: uploadId,
      input_format: format?.input?.type ?? 'json',
      output_format: format?.output?.type ?? null,
      content: await uploads.use(application.uid, uploadId, 'content', 'upload_id'),
    };
  }
  if (runId === null) throw badRequest('upload_id and run_id are both absent; give one of them.');
  const run = await findRun(database.read, application.uid, runId);
  const content = run && (await contents.share(run.input_content_id));
  if (!content) throw badRequest(`run_id is ${quoteValue(runId)}; it must be a run of this application.`);
  return {
    run_id: runId,
    upload_id: null,
    input_format: run.input_format,
    output_format: run.output_format,
    content,
  };
}

/** Returns the 400 for a source that was deleted between the lookup and the commit. */
function contentRemovedProblem({ run_id, upload_id }: Source): Problem {
  return badRequest(
    run_id === null
      ? `upload_id is ${quoteValue(upload_id)}, which was removed meanwhile; upload the content again.`
      : `run_id is ${quoteValue(run_id)}, which was deleted meanwhile; give another.`,
  );
}
