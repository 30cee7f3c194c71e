/** The request that a draft becomes. Sending it and showing it as code start from the same value. */
import type { CallArguments } from '@switchyard/contract/client.ts';
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { client } from '../../client/client.ts';
import { downloadInput, uploadInput } from '../../client/content.ts';
import type { UploadOptions } from '../../client/uploads/upload-content.ts';
import { parseSeconds } from '../../ui/forms/seconds/parse-seconds.ts';
import { findInputFormat, listSetOptions, type RunDraft } from './draft.ts';
import type { NewRunData } from './queries.ts';

type CreateRunRequest = CallArguments<Operations['createRun']>[0];

/** The body of the request, without its input when that is uploaded first. */
type RunBody = CreateRunRequest['body'];

/** A request before its input was uploaded. */
export interface PlannedRequest {
  application: string;
  instance: string;
  body: RunBody;
  /** The content to upload first: a file, or the input of another run. Absent if the body has the input. */
  upload?: { file: File } | { run: string };
}

/** Returns the request of the draft. The draft has no error of its input. */
export function planRequest(draft: RunDraft, data: NewRunData): PlannedRequest {
  const options = listSetOptions(draft);
  const configuration = buildConfiguration(draft, data);
  const format = findInputFormat(data);
  return {
    application: data.application.id,
    instance: data.instance.id,
    body: {
      ...(draft.name !== '' && { name: draft.name }),
      ...(draft.description !== '' && { description: draft.description }),
      ...(Object.keys(options).length > 0 && { options }),
      ...(Object.keys(configuration).length > 0 && { configuration }),
      ...(data.original && {
        previous_run_id: data.original.metadata.previous_run_id ?? null,
        tracking: { cloned_run_id: data.original.id },
      }),
      ...(draft.source === 'paste' && { input: parseInput(draft.text, format) }),
      ...(draft.source === 'managed' && { input_id: draft.inputId }),
    },
    ...(draft.source === 'file' && draft.file && { upload: { file: draft.file } }),
    ...(draft.source === 'run' && { upload: { run: draft.runId } }),
  };
}

function buildConfiguration(draft: RunDraft, data: NewRunData): NonNullable<RunBody['configuration']> {
  const { original } = data;
  const executionClass = EXECUTION_CLASSES.find((name) => name === draft.executionClass);
  const format = original?.metadata.format.input.type;
  const keepsFormat =
    format !== undefined &&
    draft.runId === original?.id &&
    draft.source === 'run' &&
    format !== findInputFormat(data);
  const definition = original?.run_type.type === 'ensemble' ? original.run_type.definition_id : null;
  return {
    ...(draft.priority !== '' && { queuing: { priority: Number(draft.priority) } }),
    ...(executionClass && { execution_class: executionClass }),
    ...(draft.maxDuration !== '' && { max_duration: parseSeconds(draft.maxDuration) }),
    ...(draft.secrets !== '' && { secrets_collection_id: draft.secrets }),
    ...(keepsFormat && { format: { input: { type: format } } }),
    ...(definition && { run_type: { type: 'ensemble', definition_id: definition } }),
  };
}

function parseInput(text: string, format: FormatType): unknown {
  if (format === 'text') return text;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Creates the run and returns its id. Throws the refusal of the server. */
export async function sendRequest(
  { application, instance, body, upload }: PlannedRequest,
  options?: UploadOptions,
): Promise<string> {
  const content =
    upload === undefined
      ? null
      : 'file' in upload
        ? upload.file
        : await (await downloadInput(application, upload.run)).blob();
  const uploadId = content && (await uploadInput(application, content, options));
  const { body: created } = await client.call('createRun', {
    params: { application_id: application },
    query: { instance_id: instance },
    body: { ...body, ...(uploadId !== null && { upload_id: uploadId }) },
  });
  return created.run_id;
}
