/** Response bodies of input sets. */
import type { InputSet, InputSetInput } from '@switchyard/contract/applications/input-sets.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { contentTypeForFormat } from '../api/content-responses.ts';
import { toInputFormat } from '../inputs/share-input.ts';
import type { InputSetItem, InputSetWithItems } from './store.ts';

/** Formats a set for a list, without download URLs. */
export function formatListedInputSet(application: ApplicationsTable, set: InputSetWithItems): InputSet {
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
export function formatInputSet(
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
