/** Changes an input set: its name, its description, and what is in it. */

import type { InputSetUpdate } from '@switchyard/contract/applications/input-sets.ts';
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { lockLiveApplication } from '../applications/store.ts';
import type { Contents } from '../blobs/contents.ts';
import type { Writer } from '../database/database.ts';
import { badRequest, quoteValue } from '../http/errors/problem.ts';
import type { Context } from '../http/handlers/context.ts';
import type { SelectableInput } from './select-inputs.ts';
import {
  type InputSetItem,
  type InputSetWithItems,
  lockInputSet,
  replaceInputSetItems,
  updateInputSet,
} from './store.ts';

interface InputSetChange {
  application: ApplicationsTable;
  id: InputSetId;
  body: InputSetUpdate;
  /** Ids of the inputs that the set is to have, in order; null to leave them. */
  wanted: readonly string[] | null;
  /** Managed inputs that the set may take, by id. */
  offers: ReadonlyMap<string, SelectableInput>;
}

/**
 * Writes the change and returns the set as it is then, with the blobs to remove after the commit; undefined when there is
 * no such set. Throws a 400 that names an input which is neither in the set nor among the managed inputs, and
 * ContentRemovedError when a managed input was deleted after it had been found.
 */
export async function updateInputSetRows(
  { contents, clock }: Pick<Context, 'contents' | 'clock'>,
  tx: Writer,
  { application, id, body, wanted, offers }: InputSetChange,
): Promise<{ set: InputSetWithItems; blobs: string[] } | undefined> {
  await lockLiveApplication(tx, application);
  const before = await lockInputSet(tx, application.uid, id);
  if (!before) return undefined;
  const change = wanted && changeOf(before.items, wanted, offers);
  const { name, description } = {
    name: body.name ?? before.name,
    description: body.description ?? before.description,
  };
  if (!change && name === before.name && description === before.description)
    return { set: before, blobs: [] };
  const changes = {
    name,
    description,
    // A set with inputs from elsewhere no longer consists of runs of one instance.
    instance_id: change && change.taken.length > 0 ? null : before.instance_id,
    updated_at: clock.now(),
  };
  await updateInputSet(tx, before.uid, changes);
  const set = { ...before, ...changes, items: change ? change.items : before.items };
  return { set, blobs: change ? await rearrange(contents, tx, before.uid, change) : [] };
}

interface Change {
  items: InputSetItem[];
  /** Those that are new. */
  taken: SelectableInput[];
  /** Those that are not among them any more. */
  left: InputSetItem[];
}

/** What makes the items the wanted ones, each that the set has as it has it; null when they are what is wanted. */
function changeOf(
  has: readonly InputSetItem[],
  wanted: readonly string[],
  offers: ReadonlyMap<string, SelectableInput>,
): Change | null {
  const left = new Map<string, InputSetItem>(has.map((item) => [item.input_id, item]));
  const taken: SelectableInput[] = [];
  const items = wanted.map((id, index) => {
    const kept = left.get(id);
    if (kept) {
      left.delete(id);
      return kept;
    }
    const found = offers.get(id);
    if (!found)
      throw badRequest(
        `inputs.${index}.id is ${quoteValue(id)}; it must be a managed input of this application, or an input of the set.`,
      );
    taken.push(found);
    return found.item;
  });
  const isSame = items.length === has.length && items.every((item, at) => item === has[at]);
  return isSame ? null : { items, taken, left: [...left.values()] };
}

/** Answers the blobs to remove after the commit. */
async function rearrange(
  contents: Contents,
  tx: Writer,
  uid: string,
  { items, taken, left }: Change,
): Promise<string[]> {
  await replaceInputSetItems(tx, uid, items);
  for (const { content } of taken) await content.insert(tx);
  return contents.remove(
    tx,
    left.map((item) => item.content_id),
  );
}
