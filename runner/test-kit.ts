/** What the runner's tests share: archives made on the spot, apps as one-file scripts, and a look at what still lives. */
import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { DISKS } from './disk-probe.ts';
import { CGROUPS } from './host.ts';
import { readProc } from './processes.ts';
import { startRunnerWhere } from './runner.ts';
import type { Ended, Job, Limits, LogLine, Outcome, Runner, RunnerSettings, RunningApp } from './types.ts';

export const MIB = 1024 * 1024;

/** Every way of holding an app that this code knows, strongest first. */
export const WAYS = [
  'bubblewrap as root',
  'bubblewrap',
  'a pid namespace and own users',
  'own users',
  'a pid namespace',
  'process groups',
];

export type TarEntry = Partial<Header> & { name: string; body?: string | Buffer };

/** A gzip tar of exactly these entries, in this order, hostile ones included. */
export async function tarOf(entries: TarEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { body, ...header } of entries) {
    const bytes = Buffer.from(body ?? '');
    const isFile = header.type === undefined || header.type === 'file';
    const whole = { mode: 0o755, ...header, size: header.size ?? (isFile ? bytes.length : 0) };
    if (isFile) tar.entry(whole, bytes);
    else tar.entry(whole);
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as AsyncIterable<Uint8Array>) chunks.push(Buffer.from(chunk));
  return gzipSync(Buffer.concat(chunks));
}

export async function filesTar(files: Record<string, string>): Promise<Buffer> {
  return await tarOf(Object.entries(files).map(([name, body]) => ({ name, body })));
}

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function executableOf(bytes: Buffer): Job['executable'] {
  return { hash: hashOf(bytes), open: async () => Readable.from([bytes]) };
}

export function scratchFolder(): string {
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

/** What `startRunnerWhere` is to consider for a way. */
export function considerOnly(way: string): (name: string) => boolean {
  const only = way.replace(WITH_CGROUPS, '').replace(WITH_DISKS, '');
  return (name) => {
    if (name === CGROUPS) return way.endsWith(WITH_CGROUPS);
    if (name === DISKS) return way.includes(WITH_DISKS);
    return name === only;
  };
}

/** The runner held in one way, or undefined when the host cannot do it. */
export async function runnerHeldBy(
  way: string,
  folder: string,
  settings: Partial<RunnerSettings> = {},
): Promise<Runner | undefined> {
  try {
    const runner = await startRunnerWhere({ folder, graceMs: 300, ...settings }, considerOnly(way));
    if (!way.endsWith(WITH_CGROUPS) || runner.host.enforcement.memory.startsWith('cgroup')) return runner;
    await runner.close();
    return undefined;
  } catch (error) {
    if (error instanceof Error && error.message.includes('cannot run an app')) return undefined;
    throw error;
  }
}

export const GENEROUS: Limits = {
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

export interface AppSpec extends Partial<Omit<Job, 'limits' | 'input' | 'executable'>> {
  files: Record<string, string> | Buffer;
  limits?: Partial<Limits>;
  stdin?: string;
  input?: Job['input'];
  /** Called with every line as it comes. */
  onLine?(line: string, app: RunningApp): void;
}

export interface Finished {
  outcome: Ended;
  stdout: string;
  lines: LogLine[];
  app: RunningApp;
  pids: number[];
}

export interface Begun {
  app: RunningApp;
  lines: LogLine[];
  pids: number[];
}

export async function begin(runner: Runner, spec: AppSpec): Promise<Begun> {
  const { files, limits, stdin, onLine, ...rest } = spec;
  const bytes = Buffer.isBuffer(files) ? files : await filesTar(files);
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
      executable: executableOf(bytes),
      limits: { ...GENEROUS, ...limits },
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
export async function finish(runner: Runner, spec: AppSpec): Promise<Finished> {
  const { app, lines, pids } = await begin(runner, spec);
  const outcome = ended(await app.done);
  return { outcome, stdout: readFileSync(outcome.stdout.path, 'utf8'), lines, app, pids };
}

export function ended(outcome: Outcome): Ended {
  if (outcome.kind === 'lost') throw new Error(`The run was lost: ${outcome.why}`);
  return outcome;
}

/** The app as one shell script. */
export function shell(script: string): Record<string, string> {
  return { main: `#!/bin/sh\n${script}\n` };
}

/** An argument no other process has: `sleep <this>` is found again by its command line. */
export function uniqueSeconds(): string {
  return `300.${Math.floor(Math.random() * 1e12)}`;
}

/** Pids of processes with this text in their command line, ourselves left out. */
export function living(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const isZombie = /^State:\s+Z/m.test(readProc(`/proc/${pid}/status`) ?? 'State: Z');
      return !isZombie && (readProc(`/proc/${pid}/cmdline`) ?? '').split('\0').includes(mark);
    })
    .map(Number);
}

/** Looks again and again, for what nothing tells us of; fails after ten seconds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Waited ten seconds in vain until ${what}.`);
    await pause(10);
  }
}

export async function readAll(stream: Readable): Promise<string> {
  return await text(stream);
}
