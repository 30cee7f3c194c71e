/** The operations on runs. */

import { DIRECT_INPUT_BYTES_MAX, PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import type { ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { isActionAllowed } from '@switchyard/contract/states.ts';
import { listHiddenOptions } from '../../applications/executable.ts';
import { findExecutable, findExecutables } from '../../applications/executables-store.ts';
import { getApplication, lockLiveApplication } from '../../applications/store.ts';
import { badRequest, notFound, quoteValue } from '../../http/errors/problem.ts';
import { type Caller, formatMemberKey, type HandlersFor } from '../../http/handlers/handler.ts';
import { formatPage, type PageTokens, parsePageRequest, slicePage } from '../../http/lists/pagination.ts';
import { parseTimeWindow } from '../../http/lists/time-window.ts';
import type { Metrics } from '../../http/metrics.ts';
import { cancelRun, deleteRuns } from '../execute/cancel-and-delete.ts';
import { LogPollLimiter } from '../logs/log-poll-limiter.ts';
import { buildLogResponse, readLiveLog } from '../logs/run-logs.ts';
import { explainWaitingRun } from '../queue/waiting-reason.ts';
import { findAsset, listAssets } from '../store/assets.ts';
import { findRun, listRuns } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { type CreateRunParts, createRun } from '../submit/create-run.ts';
import {
  assertInlineContent,
  assertValidJson,
  contentTypeForFormat,
  createOutputUrl,
  respondWithOutput,
} from './content-responses.ts';
import { assetBody, runBody, runInformationBody } from './run-body.ts';
import { updateRun } from './update-run.ts';

interface Parts extends CreateRunParts {
  pageTokens: PageTokens;
  metrics: Metrics;
  /** How often a key may call; null for no limit. */
  keyRate: { perMinute: number } | null;
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
  | 'listRunAssets'
  | 'getRunAsset'
  | 'updateRun'
  | 'cancelRun'
  | 'deleteRun'
  | 'createRunUpload';

export function runHandlers(parts: Parts): HandlersFor<RunOperation> {
  const { database, contents, uploads, pageTokens, clock, metrics } = parts;
  const pace = new LogPollLimiter(clock, parts.keyRate);

  const find = async (
    caller: Caller,
    params: { application_id: ApplicationId; run_id: RunId },
  ): Promise<RunsTable> => {
    const application = await getApplication(database.read, caller.account, params.application_id);
    const run = await findRun(database.read, application.uid, params.run_id);
    if (!run)
      throw notFound(
        `There is no run ${quoteValue(params.run_id)} of application ${quoteValue(application.id)}.`,
      );
    return run;
  };
  const information = async (caller: Caller, run: RunsTable) => {
    const executable = await findExecutable(database.read, run.executable_id);
    const now = clock.now();
    const waiting = run.status === 'queued' ? await explainWaitingRun(database.read, run, now) : null;
    return runInformationBody(run, listHiddenOptions(executable, caller.role), now, waiting);
  };

  return {
    async createRun(call) {
      const run = await createRun(parts, call);
      metrics.runsSubmitted.inc();
      return { status: 202, body: { run_id: run.id } };
    },

    async listRuns({ caller, params, query }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const window = parseTimeWindow(query, clock.now());
      const list = `runs ${application.uid} ${query.start ?? ''} ${query.end ?? ''}`;
      const { after, limit } = parsePageRequest(pageTokens, list, query);
      const size = limit ?? PAGE_ITEMS_MAX;
      const rows = await listRuns(database.read, application.uid, window, { after, limit: size });
      const page = slicePage(rows, size, (row) => ({ at: row.created_at, id: row.id }));
      const executables = await findExecutables(database.read, [
        ...new Set(page.items.map((row) => row.executable_id)),
      ]);
      const hidden = new Map(executables.map((one) => [one.id, listHiddenOptions(one, caller.role)]));
      const runs = page.items.map((row) => runBody(row, hidden.get(row.executable_id) ?? new Set()));
      return {
        status: 200,
        body: {
          runs,
          ...(query.pagereturn ? { items: runs } : {}),
          ...(page.next ? { next_page_token: pageTokens.encode(list, page.next) } : {}),
        },
      };
    },

    async getRun({ caller, params, query }) {
      const run = await find(caller, params);
      return respondWithOutput(parts, run, await information(caller, run), query.format);
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
          body: { url: uploads.downloadUrl(run.input_content_id, contentTypeForFormat(run.input_format)) },
        };
      }
      assertInlineContent('input', run.input_format, run.input_bytes, DIRECT_INPUT_BYTES_MAX);
      const input = await contents.read(run.input_content_id);
      if (!input) throw notFound('The input was deleted.');
      const raw = run.input_format === 'text' ? JSON.stringify(input.toString('utf8')) : input;
      if (raw === input) assertValidJson(input);
      return { status: 200, raw, contentType: 'application/json; charset=utf-8' };
    },

    async getRunOutput({ caller, params, query }) {
      const run = await find(caller, params);
      const url = query.format === 'url' ? createOutputUrl(parts, run) : null;
      // A caller that asked for a link finds it at the top, as with the input, and where the output would be.
      return respondWithOutput(parts, run, url === null ? {} : { url }, query.format);
    },

    async getRunLogs({ caller, params }) {
      const run = await find(caller, params);
      if (!isActionAllowed('readLogs', run.status)) {
        throw badRequest(
          `The run is ${run.status}; its log can be read here once it has ended. Read logs/live meanwhile.`,
        );
      }
      return buildLogResponse(contents, run.log_content_id);
    },

    async getRunLiveLogs({ caller, params, query }) {
      const place = { account: caller.account, application: params.application_id, id: params.run_id };
      const body = await readLiveLog(database.read, place, query.since, pace, formatMemberKey(caller));
      if (body) return { status: 200, body };
      // Says which of the two there is not.
      await find(caller, params);
      throw notFound(`There is no run ${quoteValue(params.run_id)}.`);
    },

    async listRunAssets({ caller, params, query }) {
      const run = await find(caller, params);
      const list = `assets ${run.id}`;
      const { after, limit } = parsePageRequest(pageTokens, list, query);
      const rows = await listAssets(database.read, run.id, { after: after?.at ?? null, limit });
      const page = slicePage(rows, limit, ({ position, id }) => ({ at: position, id }));
      return {
        status: 200,
        body: formatPage(pageTokens, list, { ...page, items: page.items.map(assetBody) }),
      };
    },

    async getRunAsset({ caller, params }) {
      const run = await find(caller, params);
      const asset = await findAsset(database.read, run.id, params.asset_id);
      if (!asset)
        throw notFound(`There is no asset ${quoteValue(params.asset_id)} of run ${quoteValue(run.id)}.`);
      const download_url = uploads.downloadUrl(asset.content_id, contentTypeForFormat('json'));
      return { status: 200, body: { ...assetBody(asset), type: 'json', download_url } };
    },

    async updateRun({ caller, params, body }) {
      const run = await find(caller, params);
      await updateRun(parts, run, body);
      return { status: 200, body: await information(caller, await find(caller, params)) };
    },

    async cancelRun({ caller, params }) {
      await cancelRun(parts, await find(caller, params));
      return { status: 204 };
    },

    async deleteRun({ caller, params }) {
      await deleteRuns(parts, [await find(caller, params)]);
      return { status: 204 };
    },

    async createRunUpload({ caller, params, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const upload = await uploads.create(application.uid, 'content', caller.key, async (tx, made) => {
        await remember(tx, { status: 200, body: made });
        await lockLiveApplication(tx, application);
      });
      return { status: 200, body: upload };
    },
  };
}
