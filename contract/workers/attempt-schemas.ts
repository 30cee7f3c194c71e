/** The log and the end of an attempt, as a remote worker sends them. */
import Type, { type Static } from 'typebox';
import { StartConditions } from '../experiments/experiment-runs.ts';
import {
  INSTANT_MS_MAX,
  LINE_TIMES_BYTES_MAX,
  LOG_CHUNK_CHARS_MAX,
  LOG_CHUNK_LINES_MAX,
  MASKED_VALUE_CHARS_MAX,
  MASKED_VALUES_MAX,
  SERIES_MAX,
  SERIES_NAME_CHARS_MAX,
  SERIES_PHASES_MAX,
  SERIES_POINTS_MAX,
  SERIES_SOLVES_MAX,
  SERIES_WRITE_POINTS_MAX,
  WORKER_CORES_MAX,
} from '../limits.ts';
import { RunSeries, RunSolve, SolverPhase } from '../runs/run-series.ts';
import { countSchema, EXACT_INTEGERS, nullable, stringEnum } from '../schemas/field-schemas.ts';
import { idReferenceSchema, NO_NUL_PATTERN, type UploadId } from '../schemas/ids.ts';
import { END_REASONS } from './end-reasons.ts';

/** A time since the epoch or a duration in milliseconds, up to the latest time that can be formatted. */
const timeSchema = (description: string) => Type.Number({ minimum: 0, maximum: INSTANT_MS_MAX, description });

const seriesPart = (id: string, pointsMax: number, description: string) =>
  Type.Object(
    {
      series: Type.Array(
        Type.Object(
          {
            ...RunSeries.properties,
            // Workers of earlier releases send none.
            solve: Type.Optional(RunSeries.properties.solve),
            name: Type.String({ maxLength: SERIES_NAME_CHARS_MAX, description: 'Name of the series.' }),
            points: Type.Unsafe<[number, number][]>({ ...RunSeries.properties.points, maxItems: pointsMax }),
          },
          { additionalProperties: false, description: 'Points of one series.' },
        ),
        { maxItems: SERIES_MAX, description: 'The series.' },
      ),
      phases: Type.Array(
        Type.Object(
          {
            ...SolverPhase.properties,
            solver: Type.String({ maxLength: SERIES_NAME_CHARS_MAX, description: 'Name of the solver.' }),
          },
          { additionalProperties: false, description: 'A phase of a solver.' },
        ),
        { maxItems: SERIES_PHASES_MAX, description: 'The phases of solvers that began.' },
      ),
      solves: Type.Optional(
        Type.Array(
          Type.Object(RunSolve.properties, { additionalProperties: false, description: 'A solve.' }),
          {
            maxItems: SERIES_SOLVES_MAX,
            description: 'New solves, and those whose facts have changed.',
          },
        ),
      ),
    },
    { $id: id, additionalProperties: false, description },
  );
const SeriesReplacement = seriesPart('SeriesReplacement', SERIES_POINTS_MAX, 'All points of several series.');
const SeriesAddition = seriesPart('SeriesAddition', SERIES_WRITE_POINTS_MAX, 'New points of several series.');
const seriesRow = <T extends typeof SeriesReplacement>(part: T, description: string) =>
  nullable(
    Type.Object(
      { seq: countSchema('Number of the row within the run.'), part },
      { additionalProperties: false, description },
    ),
  );

export const LogBatch = Type.Object(
  {
    chunks: Type.Array(
      Type.Object(
        {
          seq: countSchema('Number of the chunk within the run.'),
          at: countSchema('Time of its first line in milliseconds since the epoch.', { max: INSTANT_MS_MAX }),
          lines: Type.Array(
            // A tuple, which OpenAPI 3.0 cannot describe; the server checks its items.
            Type.Unsafe<[number, string]>({ type: 'array', items: {}, minItems: 2, maxItems: 2 }),
            {
              minItems: 1,
              maxItems: LOG_CHUNK_LINES_MAX,
              description: `Pairs of a time in microseconds since the epoch, and a text; ${LOG_CHUNK_CHARS_MAX} characters of text at most.`,
            },
          ),
        },
        { additionalProperties: false, description: 'Consecutive lines.' },
      ),
      { maxItems: 64, description: 'Lines of the log.' },
    ),
    series: Type.Object(
      {
        replacement: seriesRow(
          SeriesReplacement,
          'Points that replace all rows up to this one; null to keep them.',
        ),
        addition: seriesRow(SeriesAddition, 'Points after those; null without any.'),
      },
      { additionalProperties: false, description: 'Points of series, and points that replace those before.' },
    ),
  },
  { $id: 'LogBatch', additionalProperties: false, description: 'One write of a log.' },
);
export type LogBatch = Static<typeof LogBatch>;

const AttemptFile = Type.Object(
  {
    bytes: countSchema('Size of the file.'),
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
      nullable(
        stringEnum(['executable', 'input', 'previous'], 'Content that could not be read from the server.'),
      ),
    ),
    app: Type.Optional(
      Type.Object(
        {
          succeeded: Type.Boolean({ description: 'true after exit code 0.' }),
          reason: stringEnum(END_REASONS, 'Cause of the end.'),
          exit_code: nullable(
            Type.Integer({ ...EXACT_INTEGERS, description: 'Exit code; null after a signal.' }),
          ),
          signal: nullable(
            Type.String({
              maxLength: 32,
              pattern: NO_NUL_PATTERN,
              description: 'Signal that ended the app.',
            }),
          ),
          started_at: timeSchema('Start in milliseconds since the epoch.'),
          ended_at: timeSchema('End in milliseconds since the epoch.'),
          execution_ms: timeSchema('Duration in milliseconds.'),
          peak_memory_bytes: nullable(countSchema('Largest memory of the app.')),
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
        times: nullable(
          Type.String({
            maxLength: Math.ceil(LINE_TIMES_BYTES_MAX / 3) * 4,
            description: 'Encoded times of all lines in Base64.',
          }),
        ),
      },
      { additionalProperties: false, description: 'Lines and points that are not written yet.' },
    ),
    limits: nullable(
      Type.Object(
        {
          cores: Type.Number({ minimum: 0, maximum: WORKER_CORES_MAX, description: 'Cores of the run.' }),
          memory_bytes: countSchema('Memory of the run.', { min: 1 }),
          duration_ms: countSchema('Duration of the run in milliseconds.', { min: 1, max: INSTANT_MS_MAX }),
        },
        { additionalProperties: false, description: 'Effective limits.' },
      ),
    ),
    runtime_version: nullable(
      Type.String({
        maxLength: 64,
        pattern: NO_NUL_PATTERN,
        description: 'Version of the runtime; null for compiled programs.',
      }),
    ),
    start_conditions: nullable(StartConditions),
    secret_values: Type.Array(Type.String({ maxLength: MASKED_VALUE_CHARS_MAX }), {
      maxItems: MASKED_VALUES_MAX,
      description: 'Values of secrets, which the server masks in what it stores.',
    }),
    stopping: Type.Boolean({ description: 'true: the worker ends its apps because it stops.' }),
  },
  { $id: 'AttemptEnd', additionalProperties: false, description: 'The end of an attempt.' },
);
export type AttemptEnd = Static<typeof AttemptEnd>;
