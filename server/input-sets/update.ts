/** Changes an input set: its name, its description, and what is in it. */

import type { InputSetUpdate } from '@switchyard/contract/applications/input-sets.ts';
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { lockLiveApplication } from '../applications/store.ts';
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, type Problem, quoteValue } from '../http/errors/problem.ts';
import { parseInputIds } from './parse-input-set-request.ts';
import { findSelectableInputs, type SelectableInput } from './select-inputs.ts';
import {
  type InputSetItem,
  type InputSetWithItems,
  lockInputSet,
  replaceInputSetItems,
  updateInputSet,
} from './store.ts';

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
}

/**
 * The set as it is then. Throws `missing` when there is none, the 400 that names an input which is neither in the set nor
 * among the managed inputs, and ContentGoneError when a managed input was deleted after it had been found.
 */
export async function applyInputSetUpdate(
  parts: Parts,
  application: ApplicationsTable,
  id: InputSetId,
  body: InputSetUpdate,
  missing: () => Problem,
): Promise<InputSetWithItems> {
  const { database, contents, clock } = parts;
  const wanted = body.inputs ? parseInputIds(body.inputs) : null;
  const offers = await findSelectableInputs(parts, application.uid, wanted ?? []);
  const done = await database.transact(async (tx) => {
    await lockLiveApplication(tx, application);
    const before = await lockInputSet(tx, application.uid, id);
    if (!before) throw missing();
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
      // What is taken from elsewhere makes it more than runs of the instance.
      instance_id: change && change.taken.length > 0 ? null : before.instance_id,
      updated_at: clock.now(),
    };
    await updateInputSet(tx, before.uid, changes);
    const set = { ...before, ...changes, items: change ? change.items : before.items };
    return { set, blobs: change ? await rearrange(contents, tx, before.uid, change) : [] };
  });
  await contents.removeBlobs(done.blobs);
  return done.set;
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
