/** The operations on runs. */
import type { ApplicationId, RunId } from '@switchyard/contract/ids.ts';
import {
  DIRECT_INPUT_BYTES_MAX,
  LIST_WINDOW_DEFAULT_MS,
  PAGE_ITEMS_MAX,
} from '@switchyard/contract/limits.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { FormatType } from '@switchyard/contract/shapes.ts';
import { may } from '@switchyard/contract/states.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { findExecutable, findExecutables, getApplication } from '../applications/store.ts';
import type { Contents, PreparedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Call, Caller, HandlersOf } from '../http/handler.ts';
import type { Metrics } from '../http/metrics.ts';
import { cutPage, type PageTokens, pageRequest } from '../http/paging.ts';
import { badRequest, notFound, shown } from '../http/problem.ts';
import { rawField } from '../http/raw-field.ts';
import type { Random } from '../random.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { hiddenOptions, informationBody, runBody } from './body.ts';
import { cancel, remove } from './cancel.ts';
import { isArchive } from './formats.ts';
import { liveLog, wholeLog } from './logs.ts';
import { resolveInstance } from './resolve.ts';
import { contentTypeOf, outputUrl, refuseByUrlOnly, withOutput } from './results.ts';
import type { RunsTable } from './schema.ts';
import { findRun, listRuns, renameRun } from './store.ts';
import { submit } from './submit.ts';
import { whyItWaits } from './waiting.ts';

interface Parts {
  database: Database;
  contents: Contents;
  uploads: Uploads;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  metrics: Metrics;
}

type RunOperation =
  | 'createRun'
  | 'listRuns'
  | 'getRun'
  | 'getRunMetadata'
  | 'getRunInput'
  | 'getRunOutput'
  | 'getRunLogs'
  | 'getRunLiveLogs'
  | 'updateRun'
  | 'cancelRun'
  | 'deleteRun'
  | 'createRunUpload';

export function runHandlers(parts: Parts): HandlersOf<RunOperation> {
  const { database, contents, uploads, pageTokens, clock, random, metrics } = parts;

  const find = async (
    caller: Caller,
    params: { application_id: ApplicationId; run_id: RunId },
  ): Promise<RunsTable> => {
    const application = await getApplication(database.read, caller.account, params.application_id);
    const run = await findRun(database.read, application.uid, params.run_id);
    if (!run)
      throw notFound(`There is no run ${shown(params.run_id)} of application ${shown(application.id)}.`);
    return run;
  };
  const information = async (caller: Caller, run: RunsTable) => {
    const executable = await findExecutable(database.read, run.executable_id);
    const now = clock.now();
    const waiting = run.status === 'queued' ? await whyItWaits(database.read, run, now) : null;
    return informationBody(run, hiddenOptions(executable, caller.role), now, waiting);
  };

  return {
    async createRun(call) {
      const { caller, params, query, body } = call;
      const application = await getApplication(database.read, caller.account, params.application_id);
      const resolved = await resolveInstance(database.read, application, query.instance_id);
      const run = await submit(
        { database, clock, random, onQueued: () => database.notify('runs-queued') },
        {
          application,
          resolved,
          email: caller.email,
          name: body.name ?? '',
          description: body.description ?? '',
          options: body.options ?? null,
          configuration: body.configuration ?? {},
          hidden: hiddenOptions(resolved.executable, caller.role),
          input: (format) => prepareInput(parts, application, call, format),
          also: (tx, id) => call.remember(tx, { status: 202, body: { run_id: id } }),
        },
      );
      metrics.runsSubmitted.inc();
      return { status: 202, body: { run_id: run.id } };
    },

    async listRuns({ caller, params, query }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const end = query.end === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(query.end);
      const start =
        query.start === undefined
          ? Math.min(end, clock.now()) - LIST_WINDOW_DEFAULT_MS
          : Date.parse(query.start);
      if (start >= end)
        throw badRequest(`start is ${shown(query.start)}, which is not before end, ${shown(query.end)}.`);
      const list = `runs ${application.uid} ${query.start ?? ''} ${query.end ?? ''}`;
      const { after, limit } = pageRequest(pageTokens, list, query);
      const size = limit ?? PAGE_ITEMS_MAX;
      const rows = await listRuns(database.read, application.uid, { start, end }, { after, limit: size });
      const page = cutPage(rows, size, (row) => ({ at: row.created_at, id: row.id }));
      const executables = await findExecutables(database.read, [
        ...new Set(page.items.map((row) => row.executable_id)),
      ]);
      const hidden = new Map(executables.map((one) => [one.id, hiddenOptions(one, caller.role)]));
      const runs = page.items.map((row) => runBody(row, hidden.get(row.executable_id) ?? new Set()));
      return {
        status: 200,
        body: {
          runs,
          ...(query.pagereturn ? { items: runs } : {}),
          ...(page.next ? { next_page_token: pageTokens.write(list, page.next) } : {}),
        },
      };
    },

    async getRun({ caller, params, query }) {
      const run = await find(caller, params);
      return withOutput(parts, run, await information(caller, run), query.format);
    },

    async getRunMetadata({ caller, params }) {
      const run = await find(caller, params);
      return { status: 200, body: await information(caller, run) };
    },

    async getRunInput({ caller, params, query }) {
      const run = await find(caller, params);
      if (query.format === 'url') {
        return {
          status: 200,
          body: { url: uploads.downloadUrl(run.input_content_id, contentTypeOf(run.input_format)) },
        };
      }
      refuseByUrlOnly('input', run.input_format, run.input_bytes, DIRECT_INPUT_BYTES_MAX);
      const input = await contents.read(run.input_content_id);
      if (!input) throw notFound('The input was deleted.');
      const raw = run.input_format === 'text' ? JSON.stringify(input.toString('utf8')) : input;
      return { status: 200, raw, contentType: 'application/json; charset=utf-8' };
    },

    async getRunOutput({ caller, params, query }) {
      const run = await find(caller, params);
      const url = query.format === 'url' ? outputUrl(parts, run) : null;
      // A caller that asked for a link finds it at the top, as with the input, and where the output would be.
      return withOutput(parts, run, url === null ? {} : { url }, query.format);
    },

    async getRunLogs({ caller, params }) {
      const run = await find(caller, params);
      if (!may('readLogs', run.status)) {
        throw badRequest(
          `The run is ${run.status}; its log can be read here once it has ended. Read logs/live meanwhile.`,
        );
      }
      return wholeLog(contents, run.log_content_id);
    },

    async getRunLiveLogs({ caller, params, query }) {
      const run = await find(caller, params);
      return { status: 200, body: await liveLog(database.read, run.id, run.status, query.since) };
    },

    async updateRun({ caller, params, body }) {
      const run = await find(caller, params);
      const changes = { name: body.name ?? run.name, description: body.description ?? run.description };
      await database.transact((tx) => renameRun(tx, run.id, changes));
      return { status: 200, body: await information(caller, { ...run, ...changes }) };
    },

    async cancelRun({ caller, params }) {
      await cancel(parts, await find(caller, params));
      return { status: 204 };
    },

    async deleteRun({ caller, params }) {
      await remove(parts, [await find(caller, params)]);
      return { status: 204 };
    },

    async createRunUpload({ caller, params, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const upload = await uploads.create(application.uid, 'content', (tx, made) =>
        remember(tx, { status: 200, body: made }),
      );
      return { status: 200, body: upload };
    },
  };
}

/** The input of a new run: what was uploaded, or what stands in the request, byte for byte. */
async function prepareInput(
  parts: Parts,
  application: ApplicationsTable,
  call: Call<Operations['createRun']>,
  format: FormatType,
): Promise<PreparedContent> {
  const { body } = call;
  const direct = body.input !== undefined && body.input !== null;
  if (body.upload_id !== undefined && body.upload_id !== null) {
    if (direct)
      throw badRequest(`upload_id is ${shown(body.upload_id)} and input is given too; give one of them.`);
    return parts.uploads.use(application.uid, body.upload_id, 'content', 'upload_id');
  }
  if (isArchive(format))
    throw badRequest(`The format of the input is ${format}; upload an archive and give its upload_id.`);
  if (format === 'text') {
    if (typeof body.input !== 'string')
      throw badRequest(`input is ${shown(body.input ?? null)}; for the format text it must be text.`);
    return prepareDirect(parts, Buffer.from(body.input));
  }
  return prepareDirect(parts, (direct ? rawField(call.rawBody, 'input') : undefined) ?? Buffer.from('null'));
}

function prepareDirect(parts: Parts, input: Buffer): Promise<PreparedContent> {
  if (input.length > DIRECT_INPUT_BYTES_MAX) {
    throw badRequest(
      `input has ${input.length} bytes; given directly it may have ${DIRECT_INPUT_BYTES_MAX}. Upload it and give its upload_id.`,
    );
  }
  return parts.contents.prepare(input);
}
