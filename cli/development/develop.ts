/** The command `dev`: runs an app once, or again after each change of its files. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { resolveFormats } from '@switchyard/contract/applications/formats.ts';
import { type Runner, startRunner } from '@switchyard/runner';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import { formatError } from '../errors/report-error.ts';
import type { Session } from '../session/session.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { supportsUnicode } from '../terminal/unicode.ts';
import { type LocalApp, loadLocalApp } from './local-app.ts';
import { findInputPath, readInput } from './local-input.ts';
import { type LocalRequest, type LocalRun, startLocalRun } from './local-run.ts';
import { printResult } from './print-result.ts';
import { readSnapshot, waitForChange } from './watch-files.ts';

export interface DevelopOptions
  extends Pick<LocalRequest, 'options' | 'secrets' | 'network' | 'executionClass'> {
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
  if (app.runtimeWarning) output.warn(app.runtimeWarning);
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
