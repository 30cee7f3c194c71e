/**
 * An external run was executed somewhere else and is only kept here: what went in and what came of it. Its result is given
 * when the run is created, or later by an update; until then its status is `none`.
 */
import Type, { type Static } from 'typebox';
import { ERROR_CHARS_MAX, EXTERNAL_DURATION_MS_MAX } from '../limits.ts';
import { optionalNullable, stringEnum, text } from '../schemas/field-schemas.ts';
import { idReferenceSchema, type UploadId } from '../schemas/ids.ts';

const EXTERNAL_STATUSES = ['succeeded', 'failed'] as const;

const uploaded = (what: string) =>
  optionalNullable(idReferenceSchema<UploadId>(`An upload that holds ${what}.`));

export const ExternalResult = Type.Object(
  {
    status: optionalNullable(
      stringEnum(
        EXTERNAL_STATUSES,
        'How the run ended. When absent: failed with an `error_message`, succeeded without.',
      ),
    ),
    error_message: optionalNullable(text('Why the run failed.', { max: ERROR_CHARS_MAX })),
    execution_duration: optionalNullable(
      Type.Integer({
        minimum: 0,
        maximum: EXTERNAL_DURATION_MS_MAX,
        description: 'Milliseconds the run took.',
      }),
    ),
    output_upload_id: uploaded(
      'the output, at most 100 MB: one JSON object, or for archives a gzip tar, as the format of the run says',
    ),
    error_upload_id: uploaded('the log of the run as text'),
    statistics_upload_id: uploaded(
      'the statistics as a JSON object with the key `statistics`, in place of those in the output',
    ),
    metrics_upload_id: uploaded('the metrics as a JSON object, in place of those in the output'),
    assets_upload_id: uploaded(
      'the assets as a JSON object with the key `assets`, in place of those in the output',
    ),
  },
  {
    $id: 'ExternalResult',
    additionalProperties: false,
    description: 'What came of a run that was executed somewhere else.',
  },
);
export type ExternalResult = Static<typeof ExternalResult>;
