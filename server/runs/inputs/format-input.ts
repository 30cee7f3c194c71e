/** Response bodies of managed inputs. */
import type { Input } from '@switchyard/contract/applications/inputs.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { contentTypeForFormat } from '../api/content-responses.ts';
import type { InputsTable } from './schema.ts';
import { toInputFormat } from './share-input.ts';

/** Formats the input with a signed URL to download its content. */
export function formatInput(
  { uploads }: Pick<Context, 'uploads'>,
  application: ApplicationsTable,
  row: InputsTable,
): Input {
  return {
    id: row.id,
    app_id: application.id,
    name: row.name,
    description: row.description,
    ...(row.run_id === null ? {} : { run_id: row.run_id }),
    ...(row.upload_id === null ? {} : { upload_id: row.upload_id }),
    format: toInputFormat(row),
    download_url: uploads.downloadUrl(row.content_id, contentTypeForFormat(row.input_format)),
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}
