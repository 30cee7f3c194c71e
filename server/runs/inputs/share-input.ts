/** Shares the content and format of managed inputs with runs and input sets. */
import type { InputFormat } from '@switchyard/contract/applications/inputs.ts';
import type { InputId } from '@switchyard/contract/schemas/ids.ts';
import { ContentRemovedError, type Contents, type SharedContent } from '../../platform/blobs/contents.ts';
import type { Database } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { InputsTable } from './schema.ts';
import { findInput } from './store.ts';

/**
 * Returns the shared content of the input and its format; throws a 400 that names `input_id` when the application has no
 * such input. After its insert, the content outlives the input. The insert throws the same 400 when the input was deleted
 * before.
 */
export async function shareInput(
  parts: { database: Database; contents: Contents },
  applicationUid: string,
  id: InputId,
): Promise<{ content: SharedContent; format: InputFormat }> {
  const missingInput = () =>
    badRequest(`input_id is ${quoteValue(id)}; it must be a managed input of this application.`);
  const input = await findInput(parts.database.read, applicationUid, id);
  const content = input && (await parts.contents.share(input.content_id));
  if (!content) throw missingInput();
  return {
    content: {
      ...content,
      async insert(tx) {
        try {
          await content.insert(tx);
        } catch (error) {
          throw error instanceof ContentRemovedError ? missingInput() : error;
        }
      },
    },
    format: toInputFormat(input),
  };
}

/** Returns the format of the input as the API defines it. */
export function toInputFormat(input: Pick<InputsTable, 'input_format' | 'output_format'>): InputFormat {
  return {
    input: { type: input.input_format },
    ...(input.output_format === null ? {} : { output: { type: input.output_format } }),
  };
}
