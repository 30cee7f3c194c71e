/**
 * An external run was executed elsewhere; the server stores its input and result. The caller gives the result when
 * creating the run, or later by an update. Until then its status is `none`.
 */
import Type, { type Static } from 'typebox';
import { ERROR_CHARS_MAX, EXTERNAL_DURATION_MS_MAX } from '../limits.ts';
import { optionalNullable, stringEnum, textSchema } from '../schemas/field-schemas.ts';
import { idReferenceSchema, type UploadId } from '../schemas/ids.ts';

const EXTERNAL_STATUSES = ['succeeded', 'failed'] as const;

const uploadReferenceSchema = (description: string) =>
  optionalNullable(idReferenceSchema<UploadId>(`An upload that contains ${description}.`));

export const ExternalResult = Type.Object(
  {
    status: optionalNullable(
      stringEnum(
        EXTERNAL_STATUSES,
        'Status of the run. The default is failed with an `error_message`, and succeeded without.',
      ),
    ),
    error_message: optionalNullable(textSchema('Why the run failed.', { max: ERROR_CHARS_MAX })),
    execution_duration: optionalNullable(
      Type.Integer({
        minimum: 0,
        maximum: EXTERNAL_DURATION_MS_MAX,
        description: 'Duration of the run in milliseconds.',
      }),
    ),
    output_upload_id: uploadReferenceSchema(
      'the output, at most 100 MB: one JSON object, or for archives a gzip tar, as the format of the run says',
    ),
    error_upload_id: uploadReferenceSchema('the log of the run as text'),
    statistics_upload_id: uploadReferenceSchema(
      'the statistics as a JSON object with the key `statistics`, in place of those in the output',
    ),
    metrics_upload_id: uploadReferenceSchema('the metrics as a JSON object, in place of those in the output'),
    assets_upload_id: uploadReferenceSchema(
      'the assets as a JSON object with the key `assets`, in place of those in the output',
    ),
  },
  {
    $id: 'ExternalResult',
    additionalProperties: false,
    description: 'The result of an external run.',
  },
);
export type ExternalResult = Static<typeof ExternalResult>;
