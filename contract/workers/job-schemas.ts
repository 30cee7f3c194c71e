/** The attempt of a run as a remote worker receives it. */
import Type, { type Static } from 'typebox';
import { EXECUTABLE_TYPES } from '../applications/executables.ts';
import { Secret } from '../applications/secrets.ts';
import { EXECUTION_CLASSES } from '../execution-classes.ts';
import {
  ATTEMPT_FILES_BYTES_MAX,
  FENCE_MAX,
  MAX_DURATION_SECONDS_MAX,
  WORKFLOW_DEPTH_MAX,
} from '../limits.ts';
import { countSchema, FORMAT_TYPES, nullable, stringEnum } from '../schemas/field-schemas.ts';
import { type ApplicationId, ID_PATTERN, idSchema, type RunId } from '../schemas/ids.ts';

const pathSchema = (noun: string) => Type.Optional(Type.String({ description: `Path of ${noun}.` }));

/** Content comes from the server of the worker: a path cannot name another host. */
const DOWNLOAD_PATTERN = '^/(?:[A-Za-z0-9._~-]+/)*v1/downloads/[a-z0-9-]+\\?[!-~]*$';

const ContentSource = Type.Object(
  {
    bytes: countSchema('Size of the content.', { max: ATTEMPT_FILES_BYTES_MAX }),
    content: nullable(Type.String({ description: 'Small content in Base64; null for large content.' })),
    path: Type.String({
      pattern: DOWNLOAD_PATTERN,
      description: 'Path and query of the signed URL of the content.',
    }),
  },
  { $id: 'ContentSource', description: 'Content that a worker reads.' },
);
export type ContentSource = Static<typeof ContentSource>;

const TraceVariables = Type.Object(
  {
    TRACEPARENT: Type.Optional(Type.String({ description: 'Trace and span of the app.' })),
    TRACESTATE: Type.Optional(Type.String({ description: 'State of the trace; absent when it is empty.' })),
  },
  {
    $id: 'TraceVariables',
    description: 'Environment variables with the trace context of W3C; empty without a trace.',
  },
);
export type TraceVariables = Static<typeof TraceVariables>;

export const WorkerJob = Type.Object(
  {
    // Becomes the name of a folder.
    run_id: Type.Unsafe<RunId>(Type.String({ pattern: ID_PATTERN, description: 'Id of the run.' })),
    fence: countSchema('Fencing token of the attempt.', { min: 1, max: FENCE_MAX }),
    application_id: idSchema<ApplicationId>('Id of the application.'),
    execution_class: stringEnum(EXECUTION_CLASSES, 'Execution class of the run.'),
    duration_limit_ms: Type.Optional(
      countSchema(
        'Time after which the app is stopped, in milliseconds; the default, which older servers mean, is that of the execution class.',
        { min: 1, max: MAX_DURATION_SECONDS_MAX * 1000 },
      ),
    ),
    workflow_depth: nullable(
      countSchema('Depth of a workflow; null for any other run.', { max: WORKFLOW_DEPTH_MAX }),
    ),
    is_compared: Type.Boolean({ description: 'true: the conditions of its start are recorded.' }),
    executable: Type.Object(
      {
        // Becomes the name of a folder, too.
        hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the files in hex.' }),
        type: stringEnum(EXECUTABLE_TYPES, 'Type of the executable.'),
        entrypoint: nullable(Type.String({ description: 'Entry point; null for the default.' })),
        working_directory: nullable(Type.String({ description: 'Working directory; null for the root.' })),
        source: ContentSource,
      },
      { description: 'The executable of the run.' },
    ),
    runtime: Type.String({ description: 'Runtime of the application.' }),
    arguments: Type.Array(Type.String(), { description: 'Arguments of the app.' }),
    input: Type.Object(
      { format: stringEnum(FORMAT_TYPES, 'Format of the input.'), source: ContentSource },
      { description: 'The input of the run.' },
    ),
    previous: Type.Optional(
      Type.Object(
        { format: stringEnum(FORMAT_TYPES, 'Format of the output.'), source: ContentSource },
        { description: 'The output of the earlier run that the app starts from; absent without one.' },
      ),
    ),
    output_format: stringEnum(FORMAT_TYPES, 'Format of the output.'),
    content: nullable(
      Type.Object(
        {
          inputPath: pathSchema('the input'),
          solutionsPath: pathSchema('the solutions'),
          statisticsPath: pathSchema('the statistics'),
          metricsPath: pathSchema('the metrics'),
          assetsPath: pathSchema('the assets'),
        },
        { description: 'The paths of an app that reads and writes files; null for any other app.' },
      ),
    ),
    network: Type.Boolean({ description: 'true: the app may use the network.' }),
    secrets: Type.Array(Secret, { description: 'Secrets of the app.' }),
    access_token: nullable(Type.String({ description: 'Run token of a workflow.' })),
    trace: TraceVariables,
  },
  { $id: 'WorkerJob', description: 'An attempt that a worker executes.' },
);
export type WorkerJob = Static<typeof WorkerJob>;
