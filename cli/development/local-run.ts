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
import type { RunStatistics } from '@switchyard/contract/runs/run-reports.ts';
import { parseSeries, type Series } from '@switchyard/contract/runs/statistics-series.ts';
import { isHostFault, type LogLine, type Outcome, type Runner, type RunningApp } from '@switchyard/runner';
import { createSeriesReader } from '@switchyard/solver-logs/series-reader.ts';
import { buildRunSpec, describeContent } from '@switchyard/worker/execute/job.ts';
import { Mask } from '@switchyard/worker/log/mask.ts';
import { JsonReader } from '@switchyard/worker/results/json-reader.ts';
import { addNetworkHint, computeOutcome, type RunOutcome } from '@switchyard/worker/results/outcome.ts';
import { readResults } from '@switchyard/worker/results/read-results.ts';
import { mergeReports } from '@switchyard/worker/results/statistics-and-metrics.ts';
import { CommandError } from '../errors/command-error.ts';
import type { LocalApp } from './local-app.ts';
import { openBytes } from './local-input.ts';

export interface LocalRequest {
  app: LocalApp;
  input: Buffer;
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
  const { app, input, executionClass, network, secrets } = request;
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
  return {
    status,
    error: mask.maskText(error),
    executionMs: ended.executionMs,
    peakMemoryBytes: ended.peakMemoryBytes ?? null,
    statistics: mergeReports(results.statistics, results.metrics).statistics,
    series: reported.length > 0 ? reported : log.series,
    output: status === 'succeeded' && results.output ? await readFile(results.output.path) : null,
  };
}

/** The progress in the log of a solver. */
class LogSeries {
  readonly #reader = createSeriesReader();
  readonly #points = new Map<string, Series['points']>();
  #startedAt = 0;

  setStart(at: number): void {
    this.#startedAt = at;
  }

  add({ text, at }: LogLine): void {
    for (const { series } of this.#reader.push(text, at)) {
      for (const [name, y] of Object.entries(series)) {
        const points = this.#points.get(name) ?? [];
        this.#points.set(name, points);
        points.push({ x: Math.max(0, at - this.#startedAt) / 1000, y });
      }
    }
  }

  /** The objective first. */
  get series(): Series[] {
    return [...this.#points]
      .map(([name, points]) => ({ name, points }))
      .sort((one, other) => Number(other.name === 'objective') - Number(one.name === 'objective'));
  }
}
