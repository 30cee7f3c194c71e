/** The log and the end of an attempt, as a remote worker sends them. */
import Type, { type Static } from 'typebox';
import { StartConditions } from '../experiments/experiment-runs.ts';
import { RunSeries, SolverPhase } from '../runs/run-series.ts';
import { nullable, stringEnum } from '../schemas/field-schemas.ts';
import { idReferenceSchema, type UploadId } from '../schemas/ids.ts';
import { END_REASONS } from './end-reasons.ts';

/** A time or a duration, up to the largest whole number that JSON carries exactly. */
const timeSchema = (description: string) =>
  Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });

const SeriesPart = Type.Object(
  {
    series: Type.Array(
      Type.Object(
        {
          ...RunSeries.properties,
          points: Type.Unsafe<[number, number][]>(RunSeries.properties.points),
        },
        { additionalProperties: false, description: 'Points of one series.' },
      ),
      { maxItems: 1000, description: 'The series.' },
    ),
    phases: Type.Array(SolverPhase, { maxItems: 1000, description: 'The phases of solvers that began.' }),
  },
  { $id: 'SeriesPart', additionalProperties: false, description: 'Points of several series.' },
);
const seriesRow = (description: string) =>
  nullable(
    Type.Object(
      {
        seq: Type.Integer({ minimum: 0, description: 'Number of the row within the run.' }),
        part: SeriesPart,
      },
      { additionalProperties: false, description },
    ),
  );

export const LogBatch = Type.Object(
  {
    chunks: Type.Array(
      Type.Object(
        {
          seq: Type.Integer({ minimum: 0, description: 'Number of the chunk within the run.' }),
          at: timeSchema('Time of its first line in milliseconds since the epoch.'),
          lines: Type.Array(
            // A tuple, which OpenAPI 3.0 cannot describe; the server checks its items.
            Type.Unsafe<[number, string]>({ type: 'array', items: {}, minItems: 2, maxItems: 2 }),
            { maxItems: 1000, description: 'Pairs of a time in microseconds since the epoch, and a text.' },
          ),
        },
        { additionalProperties: false, description: 'Consecutive lines.' },
      ),
      { maxItems: 64, description: 'Lines of the log.' },
    ),
    series: Type.Object(
      {
        replacement: seriesRow('Points that replace all rows up to this one; null to keep them.'),
        addition: seriesRow('Points after those; null without any.'),
      },
      { additionalProperties: false, description: 'Points of series, and points that replace those before.' },
    ),
  },
  { $id: 'LogBatch', additionalProperties: false, description: 'One write of a log.' },
);
export type LogBatch = Static<typeof LogBatch>;

const AttemptFile = Type.Object(
  {
    bytes: Type.Integer({ minimum: 0, description: 'Size of the file.' }),
    content: nullable(Type.String({ description: 'Small content in Base64; null for a large file.' })),
    file_id: nullable(idReferenceSchema<UploadId>('Id of an uploaded file.')),
  },
  { $id: 'AttemptResultFile', additionalProperties: false, description: 'A result file.' },
);
export type AttemptFile = Static<typeof AttemptFile>;

const Outcome = Type.Object(
  {
    kind: stringEnum(
      ['ended', 'lost', 'unstarted'],
      '`ended`: the app has ended. `lost`: its end is unknown. `unstarted`: it could not be started.',
    ),
    error: Type.String({
      maxLength: 64 * 1024,
      description: 'Error of the attempt; empty after success.',
    }),
    is_host_fault: Type.Optional(Type.Boolean({ description: 'true: a fault of the machine ended it.' })),
    unreadable: Type.Optional(
      nullable(stringEnum(['executable', 'input'], 'Content that could not be read from the server.')),
    ),
    app: Type.Optional(
      Type.Object(
        {
          succeeded: Type.Boolean({ description: 'true after exit code 0.' }),
          reason: stringEnum(END_REASONS, 'Cause of the end.'),
          exit_code: nullable(Type.Integer({ description: 'Exit code; null after a signal.' })),
          signal: nullable(Type.String({ maxLength: 32, description: 'Signal that ended the app.' })),
          started_at: timeSchema('Start in milliseconds since the epoch.'),
          ended_at: timeSchema('End in milliseconds since the epoch.'),
          execution_ms: timeSchema('Duration in milliseconds.'),
          peak_memory_bytes: nullable(
            Type.Integer({
              minimum: 0,
              maximum: Number.MAX_SAFE_INTEGER,
              description: 'Largest memory of the app.',
            }),
          ),
          containment: stringEnum(['sandbox', 'limits'], 'Level of isolation.'),
          is_log_truncated: Type.Boolean({ description: 'true: the log was longer than its limit.' }),
          stdout: AttemptFile,
          stderr: AttemptFile,
          solutions: nullable(AttemptFile),
          statistics: nullable(AttemptFile),
          metrics: nullable(AttemptFile),
          assets: nullable(AttemptFile),
        },
        { additionalProperties: false, description: 'The end of the app, for the kind `ended`.' },
      ),
    ),
  },
  { $id: 'AttemptOutcome', additionalProperties: false, description: 'The outcome of an attempt.' },
);

export const AttemptEnd = Type.Object(
  {
    outcome: Outcome,
    log: Type.Object(
      {
        batches: Type.Array(LogBatch, { maxItems: 8, description: 'Writes of the log, in their order.' }),
        times: nullable(Type.String({ description: 'Encoded times of all lines in Base64.' })),
      },
      { additionalProperties: false, description: 'Lines and points that are not written yet.' },
    ),
    limits: nullable(
      Type.Object(
        {
          cores: Type.Number({ minimum: 0, description: 'Cores of the run.' }),
          memory_bytes: Type.Integer({ minimum: 1, description: 'Memory of the run.' }),
          duration_ms: Type.Integer({ minimum: 1, description: 'Duration of the run in milliseconds.' }),
        },
        { additionalProperties: false, description: 'Effective limits.' },
      ),
    ),
    runtime_version: nullable(
      Type.String({ maxLength: 64, description: 'Version of the runtime; null for compiled programs.' }),
    ),
    start_conditions: nullable(StartConditions),
    secret_values: Type.Array(Type.String(), {
      maxItems: 1000,
      description: 'Values of secrets, which the server masks in what it stores.',
    }),
    stopping: Type.Boolean({ description: 'true: the worker ends its apps because it stops.' }),
  },
  { $id: 'AttemptEnd', additionalProperties: false, description: 'The end of an attempt.' },
);
export type AttemptEnd = Static<typeof AttemptEnd>;
