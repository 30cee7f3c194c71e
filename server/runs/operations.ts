/** The operations on runs. */
import type { ApplicationId, RunId } from '@switchyard/contract/ids.ts';
import { DIRECT_INPUT_BYTES_MAX, PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { may } from '@switchyard/contract/states.ts';
import { hiddenOptions } from '../applications/executable.ts';
import { findExecutable, findExecutables } from '../applications/executables-store.ts';
import { checkApplication, getApplication } from '../applications/store.ts';
import { type Caller, type HandlersOf, memberOf } from '../http/handler.ts';
import type { Metrics } from '../http/metrics.ts';
import { cutPage, type PageTokens, pageObject, pageRequest } from '../http/paging.ts';
import { badRequest, notFound, shown } from '../http/problem.ts';
import { windowOf } from '../http/window.ts';
import { assetBody, findAsset, listAssets } from './assets.ts';
import { informationBody, runBody } from './body.ts';
import { cancel, remove } from './cancel.ts';
import { type CreateParts, create } from './create.ts';
import { FollowPace } from './follow-pace.ts';
import { liveLog, wholeLog } from './logs.ts';
import { contentTypeOf, outputUrl, refuseBrokenJson, refuseByUrlOnly, withOutput } from './results.ts';
import type { RunsTable } from './schema.ts';
import { findRun, listRuns } from './store.ts';
import { update } from './update.ts';
import { whyItWaits } from './waiting.ts';

interface Parts extends CreateParts {
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

export function runHandlers(parts: Parts): HandlersOf<RunOperation> {
  const { database, contents, uploads, pageTokens, clock, metrics } = parts;
  const pace = new FollowPace(clock, parts.keyRate);

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
      const run = await create(parts, call);
      metrics.runsSubmitted.inc();
      return { status: 202, body: { run_id: run.id } };
    },

    async listRuns({ caller, params, query }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const window = windowOf(query, clock.now());
      const list = `runs ${application.uid} ${query.start ?? ''} ${query.end ?? ''}`;
      const { after, limit } = pageRequest(pageTokens, list, query);
      const size = limit ?? PAGE_ITEMS_MAX;
      const rows = await listRuns(database.read, application.uid, window, { after, limit: size });
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
      if (raw === input) refuseBrokenJson(input);
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
      const place = { account: caller.account, application: params.application_id, id: params.run_id };
      const body = await liveLog(database.read, place, query.since, pace, memberOf(caller));
      if (body) return { status: 200, body };
      // Says which of the two there is not.
      await find(caller, params);
      throw notFound(`There is no run ${shown(params.run_id)}.`);
    },

    async listRunAssets({ caller, params, query }) {
      const run = await find(caller, params);
      const list = `assets ${run.id}`;
      const { after, limit } = pageRequest(pageTokens, list, query);
      const rows = await listAssets(database.read, run.id, { after: after?.at ?? null, limit });
      const page = cutPage(rows, limit, ({ position, id }) => ({ at: position, id }));
      return {
        status: 200,
        body: pageObject(pageTokens, list, { ...page, items: page.items.map(assetBody) }),
      };
    },

    async getRunAsset({ caller, params }) {
      const run = await find(caller, params);
      const asset = await findAsset(database.read, run.id, params.asset_id);
      if (!asset) throw notFound(`There is no asset ${shown(params.asset_id)} of run ${shown(run.id)}.`);
      const download_url = uploads.downloadUrl(asset.content_id, contentTypeOf('json'));
      return { status: 200, body: { ...assetBody(asset), type: 'json', download_url } };
    },

    async updateRun({ caller, params, body }) {
      const run = await find(caller, params);
      await update(parts, run, body);
      return { status: 200, body: await information(caller, await find(caller, params)) };
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
      const upload = await uploads.create(application.uid, 'content', caller.key, async (tx, made) => {
        await remember(tx, { status: 200, body: made });
        await checkApplication(tx, application);
      });
      return { status: 200, body: upload };
    },
  };
}
