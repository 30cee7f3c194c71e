/** The command `dev`: runs an app once, or again after each change of its files. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { resolveFormats } from '@switchyard/contract/applications/formats.ts';
import { decodeUtf8 } from '@switchyard/contract/decode-utf8.ts';
import { formatBytes, formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { type Runner, startRunner } from '@switchyard/runner';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import { formatError } from '../errors/report-error.ts';
import { listFolder } from '../packing/folder-files.ts';
import type { Session } from '../session/session.ts';
import { cleanLine, cleanText } from '../terminal/clean-text.ts';
import { formatLineChart } from '../terminal/line-chart.ts';
import type { Output } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { supportsUnicode } from '../terminal/unicode.ts';
import { type LocalApp, loadLocalApp } from './local-app.ts';
import { findInputPath, readInput } from './local-input.ts';
import { type LocalRequest, type LocalResult, type LocalRun, startLocalRun } from './local-run.ts';

const INTERVAL_MS = 300;
const IGNORED = new Set(['node_modules', '__pycache__']);

const CHART_LINES = 10;
/** One value is no line. */
const CHART_POINTS_MIN = 2;

export interface DevelopOptions
  extends Pick<LocalRequest, 'options' | 'secrets' | 'network' | 'executionClass' | 'previous'> {
  /** The argument; undefined for an input in the folder. */
  input: string | undefined;
  /** Path of the file for the output of the app; null for none. */
  outputPath: string | null;
  isWatching: boolean;
}

interface Development {
  session: Session;
  runner: Runner;
  folder: string;
  options: DevelopOptions;
}

/** Runs the app of the folder. The exit code is that of a failed run, when the last one failed. */
export async function develop(session: Session, folder: string, options: DevelopOptions): Promise<void> {
  if (options.isWatching && options.input === '-')
    throw new CommandError(
      '--watch reads the input again for each run; give a file instead of standard input.',
    );
  // Each process has a separate folder: a runner ends the runs that an earlier one left in its folder.
  const scratch = mkdtempSync(join(tmpdir(), 'switchyard-dev-'));
  // Apps run as other users when this is the root user.
  chmodSync(scratch, 0o711);
  let runner: Runner | undefined;
  try {
    runner = await startRunner({
      folder: scratch,
      randomBytes,
      onDiagnostic: ({ level, message }) => level === 'error' && session.output.warn(message),
    });
    const { containment, containmentReason } = runner.host;
    if (containment === 'limits')
      session.output.warn(`The app runs with limits and without a sandbox: ${containmentReason}`);
    const development = { session, runner, folder, options };
    await (options.isWatching ? watch(development) : runOnce(development));
  } finally {
    await runner?.close(0);
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function runOnce(development: Development): Promise<void> {
  const { terminal } = development.session;
  const { run } = await start(development);
  const cancel = (): void => run.cancel();
  terminal.signal.addEventListener('abort', cancel);
  if (terminal.signal.aborted) cancel();
  try {
    await finish(development, run);
  } finally {
    terminal.signal.removeEventListener('abort', cancel);
  }
  if (terminal.signal.aborted) development.session.exitCode = EXIT_CODES.interrupted;
}

/** Runs the app, and again when a file changes. A change ends a run that has not ended yet. */
async function watch(development: Development): Promise<void> {
  const { session, folder } = development;
  const { signal } = session.terminal;
  while (!signal.aborted) {
    const started = await start(development).catch((error: unknown) => {
      session.output.warn(formatError(error));
      return undefined;
    });
    const paths = started ? [started.inputPath] : [];
    const readFiles = () => readSnapshot(folder, paths);
    // Build commands have written their files by now.
    const before = readFiles();
    const changed = waitForChange(before, readFiles, signal).catch(() => undefined);
    if (started) {
      void changed.then(() => started.run.cancel());
      await finish(development, started.run);
      session.output.note(`Waiting for changes in ${relative(session.terminal.cwd, folder) || '.'} …`);
    }
    const path = await changed;
    if (path !== undefined) session.output.note(`\n${relative(folder, path)} has changed.`);
  }
  session.exitCode = EXIT_CODES.interrupted;
}

/** Packs the app and starts a run with the present input. */
async function start(development: Development): Promise<{ run: LocalRun; inputPath: string }> {
  const { session, runner, folder, options } = development;
  const { terminal, output } = session;
  const app = await loadLocalApp(folder, runner.host, (line) => output.note(cleanText(line)));
  for (const warning of app.runtimeWarnings) output.warn(warning);
  const { input: format } = resolveFormats(app.requirements, {}, {});
  const inputPath = findInputPath(folder, format, { input: options.input, cwd: terminal.cwd });
  const input = await readInput(inputPath, format, session);
  output.note(
    `Running ${describeApp(app, terminal.cwd)} on ${inputPath === '-' ? 'standard input' : relative(terminal.cwd, inputPath)}.`,
  );
  const run = startLocalRun(runner, { ...options, app, input }, ({ text }) => output.note(cleanText(text)));
  return { run, inputPath };
}

function describeApp({ folder }: LocalApp, cwd: string): string {
  return relative(cwd, folder) || 'this folder';
}

async function finish({ session, options }: Development, run: LocalRun): Promise<void> {
  const result = await run.done;
  if (options.outputPath !== null && result.output) writeFileSync(options.outputPath, result.output);
  printResult(session.output, result, supportsUnicode(session.terminal));
  session.exitCode = result.status === 'succeeded' ? EXIT_CODES.success : EXIT_CODES.failure;
}

/** Times and sizes of files by path. */
type Snapshot = ReadonlyMap<string, string>;

/**
 * Returns the present state of the files below the folder and of the other files. It compares times and sizes, which
 * works on every file system.
 */
function readSnapshot(folder: string, others: readonly string[]): Snapshot {
  const { files } = listFolder(realpathSync(folder), '', (name) =>
    IGNORED.has(posix.basename(name)) || posix.basename(name).startsWith('.') ? 'not watched' : undefined,
  );
  const paths = [
    ...files.map(({ name }) => join(folder, name)),
    ...others.filter((path) => existsSync(path)),
  ];
  return new Map(
    paths.flatMap((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? [[path, `${found.mtimeMs} ${found.size}`] as const] : [];
    }),
  );
}

/** Resolves with the path of a file that differs from the snapshot. Rejects with the reason of the signal. */
async function waitForChange(
  before: Snapshot,
  readNext: () => Snapshot,
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    await setTimeout(INTERVAL_MS, undefined, { signal });
    const next = readNext();
    const changed =
      [...next].find(([path, state]) => before.get(path) !== state)?.[0] ??
      [...before.keys()].find((path) => !next.has(path));
    if (changed !== undefined) return changed;
  }
}

/** Prints the result in the form of the command. With `--quiet` it prints only the objective value. */
function printResult(output: Output, result: LocalResult, isUnicode: boolean): void {
  const { status, error, executionMs, peakMemoryBytes, statistics, series } = result;
  output.print({
    json: {
      status_v2: status,
      error,
      execution_duration: executionMs,
      peak_memory: peakMemoryBytes,
      statistics,
      series,
      output: parseOutput(result.output),
    },
    text: () => formatResult(output, result, isUnicode),
    quiet: () => {
      const value = statistics.indicators.find(({ name }) => name === 'result.value')?.value;
      return value === undefined ? [] : String(value);
    },
  });
}

function formatResult({ style, width, tableWidth }: Output, result: LocalResult, isUnicode: boolean): string {
  const { status, error, executionMs, peakMemoryBytes, statistics, series } = result;
  const memory = peakMemoryBytes === null ? '' : ` with ${formatBytes(peakMemoryBytes)} of memory`;
  const tone = status === 'succeeded' ? 'good' : 'bad';
  const parts = [
    `\n${style(tone, `Run ${status}`)} after ${formatDuration(executionMs)}${memory}.\n`,
    error === '' ? '' : `${cleanText(error)}\n`,
    statistics.error === '' ? '' : `${cleanText(statistics.error)}\n`,
  ];
  if (statistics.indicators.length > 0) {
    const columns = {
      INDICATOR: ({ name }: { name: string }) => name,
      VALUE: { value: ({ value }: { value: unknown }) => String(value), isNumeric: true },
    };
    parts.push('\n', formatTable(statistics.indicators, columns, { tableWidth, style }));
  }
  const [first] = series;
  if (first && first.points.length >= CHART_POINTS_MIN) {
    const name = cleanLine(first.name);
    const points = first.points.map(({ x, y }) => [x, y]);
    const settings = { width, height: CHART_LINES, isUnicode, style };
    parts.push(
      `\n${style('strong', name)}\n`,
      formatLineChart([{ name, points }], { ...settings, unit: 's' }),
    );
  }
  return parts.join('');
}

/** The output as a JSON value; its size when it is an archive. */
function parseOutput(output: Buffer | null): unknown {
  if (output === null) return null;
  try {
    return JSON.parse(decodeUtf8(output));
  } catch {
    return { bytes: output.length };
  }
}
