/** Starts runners and apps for the runner's tests, and lists processes that are still alive. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { CGROUPS_FEATURE, DISKS_FEATURE } from '../host/probe-host.ts';
import { readProcFile } from '../process/processes.ts';
import { startRunner } from '../runner.ts';
import type {
  EndedRun,
  Limits,
  LogLine,
  Outcome,
  Runner,
  RunnerSettings,
  RunningApp,
  RunSpec,
} from '../types.ts';
import { createExecutable, createTarOfFiles } from './archives.ts';

export const MIB = 1024 * 1024;

/** Names of all confinements, the strongest first. */
export const CONFINEMENT_NAMES = [
  'bubblewrap as root',
  'bubblewrap',
  'a pid namespace and own users',
  'own users',
  'a pid namespace',
  'process groups',
];

/** Creates a scratch folder for a runner in the given folder. */
export function createScratchFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'switchyard-runner-'));
  // Apps with a user of their own must be able to pass through.
  chmodSync(folder, 0o711);
  return folder;
}

/** Removes a folder with its content. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Suffix of a confinement: runs get cgroups of their own. Without it they get none. */
export const WITH_CGROUPS = ' with cgroups';
/** Suffix before WITH_CGROUPS: runs get disks of their own where the host can mount them. */
export const WITH_DISKS = ' with disks';

/** Returns the filter of startRunner for a confinement with suffixes. */
function considerOnly(confinement: string): (name: string) => boolean {
  const wantedName = confinement.replace(WITH_CGROUPS, '').replace(WITH_DISKS, '');
  return (name) => {
    if (name === CGROUPS_FEATURE) return confinement.endsWith(WITH_CGROUPS);
    if (name === DISKS_FEATURE) return confinement.includes(WITH_DISKS);
    return name === wantedName;
  };
}

/** Starts a runner with one confinement; undefined when the host does not support it. */
export async function startRunnerConfinedBy(
  confinement: string,
  folder: string,
  settings: Partial<RunnerSettings> = {},
): Promise<Runner | undefined> {
  try {
    const runner = await startRunner(
      { folder, graceMs: 300, randomBytes, ...settings },
      considerOnly(confinement),
    );
    if (!confinement.endsWith(WITH_CGROUPS) || runner.host.enforcement.memory.startsWith('cgroup'))
      return runner;
    await runner.close();
    return undefined;
  } catch (error) {
    if (error instanceof Error && error.message.includes('cannot run an app')) return undefined;
    throw error;
  }
}

const GENEROUS_LIMITS: Limits = {
  cores: 2,
  memoryBytes: 1024 * MIB,
  durationMs: 20_000,
  outputBytes: MIB,
  logBytes: MIB,
  fileBytes: 64 * MIB,
  files: 2_000,
  processes: 200,
  openFiles: 512,
};

/** A run of a test; absent fields have defaults. */
export interface AppSpec extends Partial<Omit<RunSpec, 'limits' | 'input' | 'executable'>> {
  files: Record<string, string> | Buffer;
  limits?: Partial<Limits>;
  stdin?: string;
  input?: RunSpec['input'];
  /** Receives every line at once. */
  onLine?(line: string, app: RunningApp): void;
}

interface FinishedApp {
  outcome: EndedRun;
  stdout: string;
  lines: LogLine[];
  app: RunningApp;
  pids: number[];
}

interface StartedApp {
  app: RunningApp;
  lines: LogLine[];
  pids: number[];
}

/** Starts an app with generous limits. */
export async function startApp(runner: Runner, spec: AppSpec): Promise<StartedApp> {
  const { files, limits, stdin, onLine, ...rest } = spec;
  const bytes = Buffer.isBuffer(files) ? files : await createTarOfFiles(files);
  const lines: LogLine[] = [];
  const pids: number[] = [];
  const app = runner.run(
    {
      key: `t-${randomUUID()}`,
      type: 'binary',
      arguments: [],
      environment: {},
      secretFiles: [],
      input: { format: 'json', open: async () => Readable.from([stdin ?? '']) },
      outputFormat: rest.input?.format ?? 'json',
      network: false,
      ...rest,
      executable: createExecutable(bytes),
      limits: { ...GENEROUS_LIMITS, ...limits },
    },
    {
      onStart: ({ pid }) => pids.push(pid),
      onLog: (newLines) => {
        lines.push(...newLines);
        for (const line of newLines) onLine?.(line.text, app);
      },
    },
  );
  return { app, lines, pids };
}

/** Runs an app to its end. Throws when the run is lost. */
export async function runApp(runner: Runner, spec: AppSpec): Promise<FinishedApp> {
  const { app, lines, pids } = await startApp(runner, spec);
  const outcome = expectEnded(await app.done);
  return { outcome, stdout: readFileSync(outcome.stdout.path, 'utf8'), lines, app, pids };
}

/** Returns the outcome of a run that ended. Throws when the run was lost. */
export function expectEnded(outcome: Outcome): EndedRun {
  if (outcome.kind === 'lost') throw new Error(`The run was lost: ${outcome.error}`);
  return outcome;
}

/** Returns the files of an app that is one shell script. */
export function createShellApp(script: string): Record<string, string> {
  return { main: `#!/bin/sh\n${script}\n` };
}

/** Returns a duration for `sleep` that no other process has, to find the process by its command line. */
export function createUniqueSeconds(): string {
  return `300.${Math.floor(Math.random() * 1e12)}`;
}

/** Returns the ids of other processes with this argument. */
export function listProcessesWithArgument(argument: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const isZombie = /^State:\s+Z/m.test(readProcFile(`/proc/${pid}/status`) ?? 'State: Z');
      return !isZombie && (readProcFile(`/proc/${pid}/cmdline`) ?? '').split('\0').includes(argument);
    })
    .map(Number);
}
