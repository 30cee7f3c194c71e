/** The operations on managed inputs. */

import type { Input, InputCreate } from '@switchyard/contract/applications/inputs.ts';
import type { ApplicationId, InputId, RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { getApplication, lockApplication } from '../applications/store.ts';
import { ContentRemovedError, type Contents, type SharedContent } from '../blobs/contents.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../http/errors/problem.ts';
import type { HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { prefersRepresentation } from '../http/requests/prefer-header.ts';
import { makeId, type Random } from '../random.ts';
import { contentTypeForFormat } from '../runs/api/content-responses.ts';
import { findRun } from '../runs/store/runs.ts';
import type { Uploads } from '../uploads/uploads.ts';
import type { InputsTable } from './schema.ts';
import { toInputFormat } from './share-input.ts';
import { deleteInput, findInput, insertInput, listInputs, updateInput } from './store.ts';

interface Parts {
  database: Database;
  contents: Contents;
  uploads: Uploads;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
}

type InputOperation = 'createInput' | 'listInputs' | 'getInput' | 'updateInput' | 'deleteInput';

export function inputHandlers(parts: Parts): HandlersFor<InputOperation> {
  const { database, contents, uploads, pageTokens, clock, random } = parts;

  const getOwn = (caller: { account: ApplicationsTable['account_id'] }, id: ApplicationId) =>
    getApplication(database.read, caller.account, id);
  const missing = (application: ApplicationsTable, id: InputId) =>
    notFound(`There is no input ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
  const bodyOf = (application: ApplicationsTable, row: InputsTable): Input => ({
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
  });

  return {
    async createInput({ caller, params, body, remember }) {
      const application = await getOwn(caller, params.application_id);
      const { content, ...source } = await sourceOf(parts, application, body);
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
      const answer = { status: 201 as const, body: bodyOf(application, row) };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await lockApplication(tx, application);
        if (!(await insertInput(tx, row)))
          throw badRequest(
            `id is ${quoteValue(id)}, which another input of the application has; choose another.`,
          );
        await content.insert(tx).catch((error: unknown) => {
          throw error instanceof ContentRemovedError ? goneMeanwhile(row) : error;
        });
      });
      return answer;
    },

    async listInputs({ caller, params, query }) {
      const application = await getOwn(caller, params.application_id);
      return respondWithList(pageTokens, {
        tokenScope: `inputs ${application.uid}`,
        query,
        queryRows: (page) => listInputs(database.read, application.uid, page),
        formatBodies: (rows) => rows.map((row) => bodyOf(application, row)),
      });
    },

    async getInput({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const row = await findInput(database.read, application.uid, params.input_id);
      if (!row) throw missing(application, params.input_id);
      return { status: 200, body: bodyOf(application, row) };
    },

    async updateInput({ caller, params, body, headers }) {
      const application = await getOwn(caller, params.application_id);
      const changes = {
        ...(typeof body.name === 'string' ? { name: body.name } : {}),
        ...(typeof body.description === 'string' ? { description: body.description } : {}),
        updated_at: clock.now(),
      };
      const changed = await database.transact(async (tx) =>
        orThrow(await updateInput(tx, application.uid, params.input_id, changes), () =>
          missing(application, params.input_id),
        ),
      );
      if (!prefersRepresentation(headers)) return { status: 204 };
      return {
        status: 200,
        body: bodyOf(application, changed),
        headers: { 'preference-applied': 'return=representation' },
      };
    },

    async deleteInput({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const blobs = await database.transact(async (tx) => {
        const content = await deleteInput(tx, application.uid, params.input_id);
        if (content === undefined) throw missing(application, params.input_id);
        return contents.remove(tx, [content]);
      });
      await contents.removeBlobs(blobs);
      return { status: 204 };
    },
  };
}

type Source = Pick<InputsTable, 'run_id' | 'upload_id' | 'input_format' | 'output_format'>;

/** What the input is made from, with its content under a name of its own. */
async function sourceOf(
  parts: Parts,
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
      content: await parts.uploads.use(application.uid, uploadId, 'content', 'upload_id'),
    };
  }
  if (runId === null) throw badRequest('upload_id and run_id are both absent; give one of them.');
  const run = await findRun(parts.database.read, application.uid, runId);
  const content = run && (await parts.contents.share(run.input_content_id));
  if (!content) throw badRequest(`run_id is ${quoteValue(runId)}; it must be a run of this application.`);
  return {
    run_id: runId,
    upload_id: null,
    input_format: run.input_format,
    output_format: run.output_format,
    content,
  };
}

const goneMeanwhile = ({ run_id, upload_id }: Source) =>
  badRequest(
    run_id === null
      ? `upload_id is ${quoteValue(upload_id)}, which was removed meanwhile; upload the content again.`
      : `run_id is ${quoteValue(run_id)}, which was deleted meanwhile; give another.`,
  );
