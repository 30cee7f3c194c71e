/** Starts runners and apps for the runner's tests, and lists processes that are still alive. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { DISKS_FEATURE } from '../host/probe-disks.ts';
import { CGROUPS_FEATURE } from '../host/probe-host.ts';
import { readProcFile } from '../process/processes.ts';
import { startRunnerWithFilter } from '../runner.ts';
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

/** Every way of holding an app that this code knows, strongest first. */
export const CONFINEMENT_NAMES = [
  'bubblewrap as root',
  'bubblewrap',
  'a pid namespace and own users',
  'own users',
  'a pid namespace',
  'process groups',
];

export function createScratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-runner-'));
  // Apps that have a user of their own must be able to pass through.
  chmodSync(folder, 0o711);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Behind the name of a way: runs get cgroups of their own, too. Without it they get none. */
export const WITH_CGROUPS = ' with cgroups';
/** Put before WITH_CGROUPS; where this host cannot mount disks, runs have none. */
export const WITH_DISKS = ' with disks';

/** What `startRunnerWithFilter` is to consider for a way. */
function considerOnly(way: string): (name: string) => boolean {
  const only = way.replace(WITH_CGROUPS, '').replace(WITH_DISKS, '');
  return (name) => {
    if (name === CGROUPS_FEATURE) return way.endsWith(WITH_CGROUPS);
    if (name === DISKS_FEATURE) return way.includes(WITH_DISKS);
    return name === only;
  };
}

/** The runner held in one way, or undefined when the host cannot do it. */
export async function startRunnerConfinedBy(
  way: string,
  folder: string,
  settings: Partial<RunnerSettings> = {},
): Promise<Runner | undefined> {
  try {
    const runner = await startRunnerWithFilter({ folder, graceMs: 300, ...settings }, considerOnly(way));
    if (!way.endsWith(WITH_CGROUPS) || runner.host.enforcement.memory.startsWith('cgroup')) return runner;
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

export interface AppSpec extends Partial<Omit<RunSpec, 'limits' | 'input' | 'executable'>> {
  files: Record<string, string> | Buffer;
  limits?: Partial<Limits>;
  stdin?: string;
  input?: RunSpec['input'];
  /** Called with every line as it comes. */
  onLine?(line: string, app: RunningApp): void;
}

export interface FinishedApp {
  outcome: EndedRun;
  stdout: string;
  lines: LogLine[];
  app: RunningApp;
  pids: number[];
}

export interface StartedApp {
  app: RunningApp;
  lines: LogLine[];
  pids: number[];
}

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
      onLog: (more) => {
        lines.push(...more);
        for (const line of more) onLine?.(line.text, app);
      },
    },
  );
  return { app, lines, pids };
}

/** Runs an app to its end; a lost run fails the test. */
export async function runApp(runner: Runner, spec: AppSpec): Promise<FinishedApp> {
  const { app, lines, pids } = await startApp(runner, spec);
  const outcome = expectEnded(await app.done);
  return { outcome, stdout: readFileSync(outcome.stdout.path, 'utf8'), lines, app, pids };
}

export function expectEnded(outcome: Outcome): EndedRun {
  if (outcome.kind === 'lost') throw new Error(`The run was lost: ${outcome.error}`);
  return outcome;
}

/** The app as one shell script. */
export function createShellApp(script: string): Record<string, string> {
  return { main: `#!/bin/sh\n${script}\n` };
}

/** An argument no other process has: `sleep <this>` is found again by its command line. */
export function createUniqueSeconds(): string {
  return `300.${Math.floor(Math.random() * 1e12)}`;
}

/** Pids of processes with this text in their command line, ourselves left out. */
export function listProcessesWithArgument(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const isZombie = /^State:\s+Z/m.test(readProcFile(`/proc/${pid}/status`) ?? 'State: Z');
      return !isZombie && (readProcFile(`/proc/${pid}/cmdline`) ?? '').split('\0').includes(mark);
    })
    .map(Number);
}
