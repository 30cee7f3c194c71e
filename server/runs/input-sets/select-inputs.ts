/** Selects the inputs of a new input set, each with its shared content. */
import { isLatest, RESERVED_INSTANCES } from '@switchyard/contract/applications/reserved-instances.ts';
import { INPUT_SET_INPUTS_MAX } from '@switchyard/contract/limits.ts';
import type { InputId, InstanceId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { findInstance } from '../../apps/instances/store.ts';
import type { SharedContent } from '../../platform/blobs/contents.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { findInputs } from '../inputs/store.ts';
import { findRunInputs, listSucceededInputs, type RunInput } from '../store/runs.ts';
import { resolveInstanceId } from '../submit/resolve-instance.ts';
import type { InputSetSource } from './parse-input-set-request.ts';
import type { InputSetItem } from './store.ts';

type Services = Pick<Context, 'database' | 'contents'>;

/** An input that a set can contain. It belongs to the set once its content is inserted with the item. */
export interface SelectableInput {
  item: InputSetItem;
  content: SharedContent;
}

interface Selection {
  selected: SelectableInput[];
  /** The instance of the runs; null for sources that name ids. */
  instanceId: InstanceId | null;
}

/**
 * Returns the inputs of all sources in the order of the set. Throws a 400 that names a missing run, input or instance, an id
 * that two sources have, and for too many inputs.
 */
export async function selectInputs(
  services: Services,
  application: ApplicationsTable,
  sources: readonly InputSetSource[],
): Promise<Selection> {
  const selection: Selection = { selected: [], instanceId: null };
  const ids = new Set<string>();
  for (const source of sources) {
    const { selected, instanceId } = await selectInputsOfSource(services, application, source);
    const repeated = selected.find(({ item }) => ids.has(item.input_id));
    if (repeated)
      throw badRequest(
        `inputs has ${quoteValue(repeated.item.input_id)}, which is also the id of a run of the set; leave one of them out.`,
      );
    for (const { item } of selected) ids.add(item.input_id);
    selection.selected.push(...selected);
    selection.instanceId ??= instanceId;
  }
  if (ids.size > INPUT_SET_INPUTS_MAX)
    throw badRequest(
      `The runs and the inputs are ${ids.size} together; an input set may have at most ${INPUT_SET_INPUTS_MAX}.`,
    );
  return selection;
}

async function selectInputsOfSource(
  services: Services,
  application: ApplicationsTable,
  source: InputSetSource,
): Promise<Selection> {
  switch (source.kind) {
    case 'runs':
      return { selected: await selectRuns(services, application.uid, source.ids), instanceId: null };
    case 'inputs':
      return { selected: await selectManagedInputs(services, application.uid, source.ids), instanceId: null };
    case 'instance':
      return selectRunsOfInstance(services, application, source);
  }
}

async function selectRuns(
  services: Services,
  applicationUid: string,
  ids: readonly RunId[],
): Promise<SelectableInput[]> {
  const runs = await findRunInputs(services.database.read, applicationUid, ids);
  const selectable = indexById(await shareRunInputs(services, runs));
  return ids.map((id, index) => {
    const found = selectable.get(id);
    if (!found)
      throw badRequest(`run_ids.${index} is ${quoteValue(id)}; it must be a run of this application.`);
    return found;
  });
}

async function selectManagedInputs(
  services: Services,
  applicationUid: string,
  ids: readonly InputId[],
): Promise<SelectableInput[]> {
  const selectable = await findSelectableInputs(services, applicationUid, ids);
  return ids.map((id, index) => {
    const found = selectable.get(id);
    if (!found)
      throw badRequest(
        `inputs.${index}.id is ${quoteValue(id)}; it must be a managed input of this application.`,
      );
    return found;
  });
}

/** Returns the existing managed inputs among the ids, by id. */
export async function findSelectableInputs(
  services: Services,
  applicationUid: string,
  ids: readonly InputId[],
): Promise<Map<string, SelectableInput>> {
  const inputs = await findInputs(services.database.read, applicationUid, ids);
  const selectable = inputs.map(({ id, name, description, input_format, output_format, content_id }) =>
    shareItem(services, content_id, {
      input_id: id,
      run_id: null,
      name,
      description,
      input_format,
      output_format,
    }),
  );
  return indexById((await Promise.all(selectable)).flat());
}

async function selectRunsOfInstance(
  services: Services,
  application: ApplicationsTable,
  { id, start, end, maximum }: Extract<InputSetSource, { kind: 'instance' }>,
): Promise<Selection> {
  const { read } = services.database;
  const instanceId = resolveInstanceId(application, id) as InstanceId;
  // A run of the latest executable stores the reserved id that its request used.
  const names = isLatest(instanceId) ? RESERVED_INSTANCES : [instanceId];
  const lists = names.map((name) =>
    listSucceededInputs(read, { applicationUid: application.uid, instanceId: name }, { start, end }, maximum),
  );
  const runs = (await Promise.all(lists)).flat().sort(compareNewestFirst).slice(0, maximum);
  const selected = await shareRunInputs(services, runs);
  if (selected.length > 0) return { selected, instanceId };
  if (!isLatest(instanceId) && !(await findInstance(read, application.uid, instanceId)))
    throw badRequest(`instance_id is ${quoteValue(id)}; it must be an instance of this application.`);
  const until = end === Number.MAX_SAFE_INTEGER ? 'now' : formatRfc3339(end);
  throw badRequest(
    `No run of the instance ${quoteValue(instanceId)} that was created between ${formatRfc3339(start)} and ${until} has succeeded, and an input set needs at least one; give another time range, or create runs first.`,
  );
}

function compareNewestFirst(a: RunInput, b: RunInput): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : -1);
}

/** Shares the contents of the inputs of runs; omits runs whose content was deleted meanwhile. */
async function shareRunInputs(services: Services, runs: readonly RunInput[]): Promise<SelectableInput[]> {
  const selectable = runs.map(({ id, name, description, input_format, output_format, input_content_id }) =>
    shareItem(services, input_content_id, {
      input_id: id,
      run_id: id,
      name,
      description,
      input_format,
      output_format,
    }),
  );
  return (await Promise.all(selectable)).flat();
}

/** Returns the item with its shared content, or an empty array when the content was deleted meanwhile. */
async function shareItem(
  { contents }: Services,
  contentId: string,
  item: Omit<InputSetItem, 'content_id'>,
): Promise<SelectableInput[]> {
  const content = await contents.share(contentId);
  return content ? [{ item: { ...item, content_id: content.id }, content }] : [];
}

function indexById(inputs: readonly SelectableInput[]): Map<string, SelectableInput> {
  return new Map(inputs.map((one) => [one.item.input_id, one]));
}
