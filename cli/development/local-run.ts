/**
 * Runs an app on this machine as a worker runs it. It has the same sandbox without a network, the limits of an execution
 * class, and the options of its manifest. The rules of the server decide about its results.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolveFormats } from '@switchyard/contract/applications/formats.ts';
import {
  buildArguments,
  findDefinedOptionError,
  findOptionsSizeError,
  summarizeOptions,
} from '@switchyard/contract/applications/run-options.ts';
import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import { CLASS_LIMITS, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { findMainSolve } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import type { RunStatistics } from '@switchyard/contract/runs/run-reports.ts';
import { parseSeries, type Series } from '@switchyard/contract/runs/statistics-series.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { isHostFault, type LogLine, type Outcome, type Runner, type RunningApp } from '@switchyard/runner';
import { buildRunSpec, describeContent } from '@switchyard/worker/execute/job.ts';
import { Mask } from '@switchyard/worker/log/mask.ts';
import { JsonReader } from '@switchyard/worker/results/json-reader.ts';
import { addNetworkHint, computeOutcome, type RunOutcome } from '@switchyard/worker/results/outcome.ts';
import { readResults } from '@switchyard/worker/results/read-results.ts';
import { mergeReports } from '@switchyard/worker/results/statistics-and-metrics.ts';
import { SeriesWriter } from '@switchyard/worker/series/series-writer.ts';
import { CommandError } from '../errors/command-error.ts';
import type { LocalApp } from './local-app.ts';
import { openBytes } from './local-input.ts';

/** The output of an earlier run. */
export interface PreviousOutput {
  format: FormatType;
  content: Buffer;
}

export interface LocalRequest {
  app: LocalApp;
  input: Buffer;
  /** The output of an earlier run; null without one. */
  previous: PreviousOutput | null;
  options: Record<string, string>;
  executionClass: ExecutionClass;
  network: boolean;
  /** Secrets by variable. They are masked in the log. */
  secrets: Secret[];
}

export interface LocalResult extends RunOutcome {
  executionMs: number;
  peakMemoryBytes: number | null;
  statistics: RunStatistics;
  /** The objective first. */
  series: Series[];
  /** The output as the app wrote it; null without one. */
  output: Buffer | null;
}

export interface LocalRun {
  cancel(): void;
  readonly done: Promise<LocalResult>;
}

/** Starts a run. `onLine` receives the log. Throws CommandError for options that break a rule of the manifest. */
export function startLocalRun(
  runner: Runner,
  request: LocalRequest,
  onLine: (line: LogLine) => void,
): LocalRun {
  const { app, input, previous, executionClass, network, secrets } = request;
  const { requirements } = app;
  const mask = new Mask(secrets.map(({ value }) => value));
  const formats = resolveFormats(requirements, {}, {});
  const spec = buildRunSpec(
    {
      runId: `dev-${randomUUID()}`,
      fence: 1,
      applicationId: 'dev',
      executionClass,
      durationLimitMs: CLASS_LIMITS[executionClass].duration_ms,
      executable: {
        hash: app.hash,
        type: requirements.executable_type,
        entrypoint: requirements.entrypoint ?? null,
        workingDirectory: requirements.working_directory ?? null,
      },
      arguments: buildArguments(resolveOptions(request), requirements.options),
      inputFormat: formats.input,
      previousFormat: previous?.format ?? null,
      outputFormat: formats.output,
      content: describeContent(requirements),
      network,
      secrets,
      trace: {},
    },
    {
      size: runner.host,
      environment: {},
      openExecutable: app.openArchive,
      openInput: () => openBytes(input),
      openPrevious: () => openBytes(previous?.content ?? Buffer.alloc(0)),
    },
  );
  const log = new LogSeries();
  const running = runner.run(spec, {
    onStart: ({ at }) => log.setStart(at),
    onLog: (lines) => {
      for (const line of lines) {
        log.add(line);
        onLine({ ...line, text: mask.maskText(line.text) });
      }
    },
  });
  return {
    cancel: () => running.cancel(),
    done: readEnd(running, { format: formats.output, mask, network, log }),
  };
}

function resolveOptions({ app, options }: LocalRequest): ReturnType<typeof summarizeOptions> {
  const definitions = app.requirements.options;
  const summary = summarizeOptions({ definitions, instance: {}, run: options });
  const error =
    findOptionsSizeError(summary) ?? (definitions ? findDefinedOptionError(summary, definitions) : null);
  if (error) throw new CommandError(error);
  return summary;
}

interface EndParts {
  format: ReturnType<typeof resolveFormats>['output'];
  mask: Mask;
  network: boolean;
  log: LogSeries;
}

async function readEnd(running: RunningApp, parts: EndParts): Promise<LocalResult> {
  try {
    return await readOutcome(await running.done, parts);
  } finally {
    await running.dispose();
  }
}

async function readOutcome(ended: Outcome, { format, mask, network, log }: EndParts): Promise<LocalResult> {
  if (ended.kind === 'lost') throw new Error(ended.error);
  const results = await readResults(
    { reader: new JsonReader(), isHostError: isHostFault },
    ended,
    format,
    mask,
  );
  const outcome = computeOutcome(ended, results.error);
  const { status, error } = await addNetworkHint(outcome, ended, { network, mask });
  const block: unknown = results.statistics.block === null ? null : JSON.parse(results.statistics.block);
  const reported = parseSeries(block);
  const read = log.end();
  return {
    status,
    error: mask.maskText(error),
    executionMs: ended.executionMs,
    peakMemoryBytes: ended.peakMemoryBytes ?? null,
    statistics: mergeReports(results.statistics, results.metrics, read.solverStatus).statistics,
    series: reported.length > 0 ? reported : read.series,
    output: status === 'succeeded' && results.output ? await readFile(results.output.path) : null,
  };
}

/** The progress in the log of a solver, as a server reads it. */
class LogSeries {
  readonly #writer = new SeriesWriter(1, 0);

  setStart(at: number): void {
    this.#writer.setStart(at);
  }

  add({ text, at }: LogLine): void {
    this.#writer.addLine(text, at);
  }

  /** Returns the series with the objective first, and the status of the main solve. */
  end(): { series: Series[]; solverStatus: string | null } {
    this.#writer.begin(true);
    const part = this.#writer.toWrite(true).addition?.part;
    // Of several solves the last one decides, whose series come last.
    const byName = new Map(
      part?.series.map(({ name, points }) => [name, points.map(([x, y]) => ({ x, y }))]),
    );
    const series = [...byName].map(([name, points]) => ({ name, points }));
    return {
      series: series.sort(
        (one, other) => Number(other.name === 'objective') - Number(one.name === 'objective'),
      ),
      solverStatus: findMainSolve(part?.solves ?? [])?.status ?? null,
    };
  }
}
