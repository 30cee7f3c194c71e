/** Finds what an input set is to hold, each with its content under a name of its own. */

import { isLatest, RESERVED_INSTANCES } from '@switchyard/contract/applications/reserved-instances.ts';
import type { InputId, InstanceId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import type { SharedContent } from '../blobs/contents.ts';
import { formatRfc3339 } from '../clock.ts';
import { badRequest, quoteValue } from '../http/errors/problem.ts';
import type { Context } from '../http/handlers/context.ts';
import { findInputs } from '../inputs/store.ts';
import { findInstance } from '../instances/store.ts';
import { findRunInputs, listSucceededInputs, type RunInput } from '../runs/store/runs.ts';
import { resolveInstanceId } from '../runs/submit/resolve-instance.ts';
import type { InputSetSource } from './parse-input-set-request.ts';
import type { InputSetItem } from './store.ts';

type Services = Pick<Context, 'database' | 'contents'>;

/** An input that a set may take. The set has it once the content is inserted with the item. */
export interface SelectableInput {
  item: InputSetItem;
  content: SharedContent;
}

interface Chosen {
  offers: SelectableInput[];
  /** The instance whose runs they are; null for what was named one by one. */
  instanceId: InstanceId | null;
}

/** What the set is made of; throws the 400 that names what is not there. */
export async function selectInputs(
  services: Services,
  application: ApplicationsTable,
  source: InputSetSource,
): Promise<Chosen> {
  switch (source.kind) {
    case 'runs':
      return { offers: await namedRuns(services, application.uid, source.ids), instanceId: null };
    case 'inputs':
      return { offers: await namedInputs(services, application.uid, source.ids), instanceId: null };
    case 'instance':
      return runsOfInstance(services, application, source);
  }
}

async function namedRuns(
  services: Services,
  applicationUid: string,
  ids: readonly RunId[],
): Promise<SelectableInput[]> {
  const runs = await findRunInputs(services.database.read, applicationUid, ids);
  const offers = byId(await offerRuns(services, runs));
  return ids.map((id, index) => {
    const found = offers.get(id);
    if (!found)
      throw badRequest(`run_ids.${index} is ${quoteValue(id)}; it must be a run of this application.`);
    return found;
  });
}

async function namedInputs(
  services: Services,
  applicationUid: string,
  ids: readonly InputId[],
): Promise<SelectableInput[]> {
  const offers = await findSelectableInputs(services, applicationUid, ids);
  return ids.map((id, index) => {
    const found = offers.get(id);
    if (!found)
      throw badRequest(
        `inputs.${index}.id is ${quoteValue(id)}; it must be a managed input of this application.`,
      );
    return found;
  });
}

/** Those of the managed inputs that the application has, by id. */
export async function findSelectableInputs(
  services: Services,
  applicationUid: string,
  ids: readonly InputId[],
): Promise<Map<string, SelectableInput>> {
  const inputs = await findInputs(services.database.read, applicationUid, ids);
  const offers = inputs.map(({ id, name, description, input_format, output_format, content_id }) =>
    offer(services, content_id, {
      input_id: id,
      run_id: null,
      name,
      description,
      input_format,
      output_format,
    }),
  );
  return byId((await Promise.all(offers)).flat());
}

async function runsOfInstance(
  services: Services,
  application: ApplicationsTable,
  { id, start, end, maximum }: Extract<InputSetSource, { kind: 'instance' }>,
): Promise<Chosen> {
  const { read } = services.database;
  const instanceId = resolveInstanceId(application, id) as InstanceId;
  // Runs of the executable pushed last keep the one of its names that they were asked for by.
  const names = isLatest(instanceId) ? RESERVED_INSTANCES : [instanceId];
  const found = names.map((name) =>
    listSucceededInputs(read, { applicationUid: application.uid, instanceId: name }, { start, end }, maximum),
  );
  const runs = (await Promise.all(found)).flat().sort(newestFirst).slice(0, maximum);
  const offers = await offerRuns(services, runs);
  if (offers.length > 0) return { offers, instanceId };
  if (!isLatest(instanceId) && !(await findInstance(read, application.uid, instanceId)))
    throw badRequest(`instance_id is ${quoteValue(id)}; it must be an instance of this application.`);
  const until = end === Number.MAX_SAFE_INTEGER ? 'now' : formatRfc3339(end);
  throw badRequest(
    `No run of the instance ${quoteValue(instanceId)} that was made between ${formatRfc3339(start)} and ${until} has succeeded, and an input set holds at least one; give another time, or make runs first.`,
  );
}

function newestFirst(a: RunInput, b: RunInput): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : -1);
}

async function offerRuns(services: Services, runs: readonly RunInput[]): Promise<SelectableInput[]> {
  const offers = runs.map(({ id, name, description, input_format, output_format, input_content_id }) =>
    offer(services, input_content_id, {
      input_id: id,
      run_id: id,
      name,
      description,
      input_format,
      output_format,
    }),
  );
  return (await Promise.all(offers)).flat();
}

/** Nothing when the content was deleted meanwhile. */
async function offer(
  { contents }: Services,
  contentId: string,
  item: Omit<InputSetItem, 'content_id'>,
): Promise<SelectableInput[]> {
  const content = await contents.share(contentId);
  return content ? [{ item: { ...item, content_id: content.id }, content }] : [];
}

function byId(offers: readonly SelectableInput[]): Map<string, SelectableInput> {
  return new Map(offers.map((one) => [one.item.input_id, one]));
}
