/** Updates an input set: its name, its description and its inputs. */

import type { InputSetUpdate } from '@switchyard/contract/applications/input-sets.ts';
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { lockLiveApplication } from '../../apps/applications/store.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
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
export async function updateInputSetRows(
  { contents, clock }: Pick<Context, 'contents' | 'clock'>,
  tx: Writer,
  { application, id, body, inputIds, selectable }: InputSetChange,
): Promise<{ set: InputSetWithItems; blobs: string[] } | undefined> {
  await lockLiveApplication(tx, application);
  const before = await lockInputSet(tx, application.uid, id);
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
  await updateInputSet(tx, before.uid, changes);
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
  await replaceInputSetItems(tx, uid, items);
  for (const { content } of added) await content.insert(tx);
  return contents.remove(
    tx,
    removed.map((item) => item.content_id),
  );
}
