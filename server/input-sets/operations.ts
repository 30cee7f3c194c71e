/** The operations on input sets. */

import type { InputSet, InputSetInput } from '@switchyard/contract/applications/input-sets.ts';
import { INPUT_SET_NAME_CHARS_MAX, INPUT_SET_NAME_CHARS_MIN } from '@switchyard/contract/limits.ts';
import type { ApplicationId, InputSetId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { getApplication, lockApplication } from '../applications/store.ts';
import { ContentRemovedError, type Contents } from '../blobs/contents.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { badRequest, notFound, quoteValue } from '../http/errors/problem.ts';
import type { Caller, HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { validateName } from '../http/requests/resource-names.ts';
import { toInputFormat } from '../inputs/share-input.ts';
import { makeId, type Random } from '../random.ts';
import { contentTypeForFormat } from '../runs/api/content-responses.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { parseInputSetSource } from './parse-input-set-request.ts';
import { selectInputs } from './select-inputs.ts';
import {
  deleteInputSet,
  findInputSet,
  type InputSetItem,
  type InputSetWithItems,
  insertInputSet,
  insertInputSetItems,
  listInputSets,
} from './store.ts';
import { applyInputSetUpdate } from './update.ts';

/** One may have hundreds of inputs. */
const SETS_AT_ONCE = 10;

const NAME_LIMITS = { min: INPUT_SET_NAME_CHARS_MIN, max: INPUT_SET_NAME_CHARS_MAX };

interface Parts {
  database: Database;
  contents: Contents;
  uploads: Uploads;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
}

type InputSetOperation =
  | 'createInputSet'
  | 'listInputSets'
  | 'getInputSet'
  | 'updateInputSet'
  | 'deleteInputSet';

export function inputSetHandlers(parts: Parts): HandlersFor<InputSetOperation> {
  const { database, contents, uploads, pageTokens, clock, random } = parts;

  const getOwn = (caller: Caller, id: ApplicationId) => getApplication(database.read, caller.account, id);
  const missing = (application: ApplicationsTable, id: InputSetId) =>
    notFound(`There is no input set ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
  const itemBody = (item: InputSetItem): InputSetInput => ({
    id: item.input_id,
    name: item.name,
    description: item.description,
    ...(item.run_id === null ? {} : { run_id: item.run_id }),
    format: toInputFormat(item),
  });
  const listedBody = (application: ApplicationsTable, set: InputSetWithItems): InputSet => ({
    id: set.id,
    app_id: application.id,
    name: set.name,
    description: set.description,
    ...(set.instance_id === null ? {} : { instance_id: set.instance_id }),
    input_ids: set.items.map((item) => item.input_id),
    inputs: set.items.map(itemBody),
    created_at: formatRfc3339(set.created_at),
    updated_at: formatRfc3339(set.updated_at),
  });
  const wholeBody = (application: ApplicationsTable, set: InputSetWithItems): InputSet => ({
    ...listedBody(application, set),
    inputs: set.items.map((item) => ({
      ...itemBody(item),
      download_url: uploads.downloadUrl(item.content_id, contentTypeForFormat(item.input_format)),
    })),
  });

  return {
    async createInputSet({ caller, params, body, remember }) {
      const application = await getOwn(caller, params.application_id);
      const now = clock.now();
      const source = parseInputSetSource(body, now);
      const id = body.id ?? makeId<InputSetId>(random, 'set');
      validateName(body.name, id, NAME_LIMITS);
      return whileThere(async () => {
        const { offers, instanceId } = await selectInputs(parts, application, source);
        const row = {
          uid: makeId<string>(random, 'set'),
          application_uid: application.uid,
          id,
          name: body.name,
          description: body.description ?? '',
          instance_id: instanceId,
          created_at: now,
          updated_at: now,
        };
        const items = offers.map((one) => one.item);
        const answer = { status: 201 as const, body: wholeBody(application, { ...row, items }) };
        await database.transact(async (tx) => {
          await remember(tx, answer);
          await lockApplication(tx, application);
          if (!(await insertInputSet(tx, row)))
            throw badRequest(
              `id is ${quoteValue(id)}, which another input set of the application has; choose another.`,
            );
          await insertInputSetItems(tx, row.uid, items);
          for (const { content } of offers) await content.insert(tx);
        });
        return answer;
      });
    },

    async listInputSets({ caller, params, query }) {
      const application = await getOwn(caller, params.application_id);
      return respondWithList(pageTokens, {
        tokenScope: `input-sets ${application.uid}`,
        query,
        queryRows: (page) => listInputSets(database.read, application.uid, page),
        formatBodies: (sets) => sets.map((set) => listedBody(application, set)),
        batchSize: SETS_AT_ONCE,
      });
    },

    async getInputSet({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const set = await findInputSet(database.read, application.uid, params.input_set_id);
      if (!set) throw missing(application, params.input_set_id);
      return { status: 200, body: wholeBody(application, set) };
    },

    async updateInputSet({ caller, params, body }) {
      const application = await getOwn(caller, params.application_id);
      validateName(body.name, params.input_set_id, NAME_LIMITS);
      const gone = () => missing(application, params.input_set_id);
      const set = await whileThere(() =>
        applyInputSetUpdate(parts, application, params.input_set_id, body, gone),
      );
      return { status: 200, body: wholeBody(application, set) };
    },

    async deleteInputSet({ caller, params }) {
      const application = await getOwn(caller, params.application_id);
      const blobs = await database.transact(async (tx) => {
        const held = await deleteInputSet(tx, application.uid, params.input_set_id);
        if (!held) throw missing(application, params.input_set_id);
        return contents.remove(tx, held);
      });
      await contents.removeBlobs(blobs);
      return { status: 204 };
    },
  };
}

/**
 * Does the work again when something it was to take was deleted after it had been found: the next time it is not found,
 * and the work goes without it or says what is missing.
 */
async function whileThere<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ContentRemovedError)) throw error;
    }
  }
}
