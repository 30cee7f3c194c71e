/** Operations on input sets. */
import type {
  InputSet,
  InputSetInput,
  InputSetUpdate,
} from '@switchyard/contract/applications/input-sets.ts';
import { INPUT_SET_NAME_CHARS_MAX, INPUT_SET_NAME_CHARS_MIN } from '@switchyard/contract/limits.ts';
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication, lockApplication, lockLiveApplication } from '../../apps/applications/store.ts';
import { ContentRemovedError, type Contents } from '../../platform/blobs/contents.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue, reportMissing, reportTaken } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import { contentTypeForFormat } from '../api/content-responses.ts';
import { toInputFormat } from '../inputs/share-input.ts';
import { parseInputIds, parseInputSetSources } from './parse-input-set-request.ts';
import { findSelectableInputs, type SelectableInput, selectInputs } from './select-inputs.ts';
import type { InputSetItem, InputSetWithItems } from './store.ts';
import * as store from './store.ts';

/** Small, because a set can have hundreds of inputs. */
const PAGE_BATCH_SIZE = 10;

const NAME_LIMITS = { min: INPUT_SET_NAME_CHARS_MIN, max: INPUT_SET_NAME_CHARS_MAX };

export const createInputSet: OperationHandler<'createInputSet'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { database, clock, random } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const now = clock.now();
  const sources = parseInputSetSources(body, now);
  const id = body.id ?? makeId<InputSetId>(random, 'set');
  validateName(body.name, id, NAME_LIMITS);
  return retryIfRemoved(async () => {
    const { selected, instanceId } = await selectInputs(context, application, sources);
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
    const items = selected.map((one) => one.item);
    return commit(async (tx) => {
      await lockApplication(tx, application);
      if (!(await store.insertInputSet(tx, row))) throw reportTaken('input set', id);
      await store.insertInputSetItems(tx, row.uid, items);
      for (const { content } of selected) await content.insert(tx);
      return { status: 201, body: formatInputSet(context, application, { ...row, items }) };
    });
  });
};

export const listInputSets: OperationHandler<'listInputSets'> = async (
  context,
  { caller, params, query },
) => {
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  return respondWithList(context, {
    tokenScope: `input-sets ${application.uid}`,
    query,
    queryRows: (page) => store.listInputSets(context.database.read, application.uid, page),
    formatBodies: (sets) => sets.map((set) => formatListedInputSet(application, set)),
    batchSize: PAGE_BATCH_SIZE,
  });
};

export const getInputSet: OperationHandler<'getInputSet'> = async (context, { caller, params }) => {
  const { database } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const set = await store.findInputSet(database.read, application.uid, params.input_set_id);
  if (!set) throw reportMissing('input set', params.input_set_id, application);
  return { status: 200, body: formatInputSet(context, application, set) };
};

export const updateInputSet: OperationHandler<'updateInputSet'> = async (
  context,
  { caller, params, body, commitThen },
) => {
  const { database, contents } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const id = params.input_set_id;
  validateName(body.name, id, NAME_LIMITS);
  const inputIds = body.inputs ? parseInputIds(body.inputs) : null;
  return retryIfRemoved(async () => {
    const selectable = await findSelectableInputs(context, application.uid, inputIds ?? []);
    return commitThen(
      async (tx) => {
        const change = { application, id, body, inputIds, selectable };
        const updated = await updateInputSetRows(context, tx, change);
        if (!updated) throw reportMissing('input set', id, application);
        return updated;
      },
      async ({ set, blobs }) => {
        await contents.removeBlobs(blobs);
        return { status: 200, body: formatInputSet(context, application, set) };
      },
    );
  });
};

export const deleteInputSet: OperationHandler<'deleteInputSet'> = async (
  { database, contents },
  { caller, params, commitThen },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  return commitThen(
    async (tx) => {
      const contentIds = await store.deleteInputSet(tx, application.uid, params.input_set_id);
      if (!contentIds) throw reportMissing('input set', params.input_set_id, application);
      return contents.remove(tx, contentIds);
    },
    async (blobs) => {
      await contents.removeBlobs(blobs);
      return { status: 204 };
    },
  );
};

/**
 * Repeats the work when content was deleted between its lookup and its insert. The next lookup does not find that content,
 * so the work omits it or throws a 400 that names it.
 */
async function retryIfRemoved<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ContentRemovedError)) throw error;
    }
  }
}

/** Formats a set for a list, without download URLs. */
function formatListedInputSet(application: ApplicationsTable, set: InputSetWithItems): InputSet {
  return {
    id: set.id,
    app_id: application.id,
    name: set.name,
    description: set.description,
    ...(set.instance_id === null ? {} : { instance_id: set.instance_id }),
    input_ids: set.items.map((item) => item.input_id),
    inputs: set.items.map(formatItem),
    created_at: formatRfc3339(set.created_at),
    updated_at: formatRfc3339(set.updated_at),
  };
}

/** Formats one set; each of its inputs has a signed URL to download its content. */
function formatInputSet(
  { uploads }: Pick<Context, 'uploads'>,
  application: ApplicationsTable,
  set: InputSetWithItems,
): InputSet {
  return {
    ...formatListedInputSet(application, set),
    inputs: set.items.map((item) => ({
      ...formatItem(item),
      download_url: uploads.downloadUrl(item.content_id, contentTypeForFormat(item.input_format)),
    })),
  };
}

function formatItem(item: InputSetItem): InputSetInput {
  return {
    id: item.input_id,
    name: item.name,
    description: item.description,
    ...(item.run_id === null ? {} : { run_id: item.run_id }),
    format: toInputFormat(item),
  };
}

interface InputSetChange {
  application: ApplicationsTable;
  id: InputSetId;
  body: InputSetUpdate;
  /** The ids of the inputs of the updated set, in order; null to keep the inputs. */
  inputIds: readonly string[] | null;
  /** Managed inputs that the update can add, by id. */
  selectable: ReadonlyMap<string, SelectableInput>;
}

/**
 * Writes the change; returns the updated set and the blobs to remove after the commit, or undefined when the set does not
 * exist. Throws a 400 that names an input which is neither in the set nor selectable. Throws a ContentRemovedError when a
 * managed input was deleted after its lookup.
 */
async function updateInputSetRows(
  { contents, clock }: Pick<Context, 'contents' | 'clock'>,
  tx: Writer,
  { application, id, body, inputIds, selectable }: InputSetChange,
): Promise<{ set: InputSetWithItems; blobs: string[] } | undefined> {
  await lockLiveApplication(tx, application);
  const before = await store.lockInputSet(tx, application.uid, id);
  if (!before) return undefined;
  requireUnchanged({ noun: `input set ${quoteValue(id)}`, updatedAt: before.updated_at }, body);
  const change = inputIds && computeItemChange(before.items, inputIds, selectable);
  const { name, description } = {
    name: body.name ?? before.name,
    description: body.description ?? before.description,
  };
  if (!change && name === before.name && description === before.description)
    return { set: before, blobs: [] };
  const changes = {
    name,
    description,
    // A set with added inputs no longer consists of runs of one instance.
    instance_id: change && change.added.length > 0 ? null : before.instance_id,
    updated_at: computeUpdateTime(clock.now(), before),
  };
  await store.updateInputSet(tx, before.uid, changes);
  const set = { ...before, ...changes, items: change ? change.items : before.items };
  return { set, blobs: change ? await writeItemChange(contents, tx, before.uid, change) : [] };
}

interface ItemChange {
  /** All items of the updated set. */
  items: InputSetItem[];
  added: SelectableInput[];
  removed: InputSetItem[];
}

/** Computes the change to the inputs with the ids; an input that the set has stays as it is. Returns null without a change. */
function computeItemChange(
  before: readonly InputSetItem[],
  inputIds: readonly string[],
  selectable: ReadonlyMap<string, SelectableInput>,
): ItemChange | null {
  const removed = new Map<string, InputSetItem>(before.map((item) => [item.input_id, item]));
  const added: SelectableInput[] = [];
  const items = inputIds.map((id, index) => {
    const existing = removed.get(id);
    if (existing) {
      removed.delete(id);
      return existing;
    }
    const found = selectable.get(id);
    if (!found)
      throw badRequest(
        `inputs.${index}.id is ${quoteValue(id)}; it must be a managed input of this application, or an input of the set.`,
      );
    added.push(found);
    return found.item;
  });
  const isSame = items.length === before.length && items.every((item, index) => item === before[index]);
  return isSame ? null : { items, added, removed: [...removed.values()] };
}

/** Writes the items and their contents; returns the blobs to remove after the commit. */
async function writeItemChange(
  contents: Contents,
  tx: Writer,
  uid: string,
  { items, added, removed }: ItemChange,
): Promise<string[]> {
  await store.replaceInputSetItems(tx, uid, items);
  for (const { content } of added) await content.insert(tx);
  return contents.remove(
    tx,
    removed.map((item) => item.content_id),
  );
}
