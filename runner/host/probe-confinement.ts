/** Tries ways of holding an app, strongest first, by running a trivial app in each. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, closeSync, fchownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { APP_ROOT_PLACEHOLDER, resolveRunFolder } from '../filesystem/run-folder.ts';
import { readProcFile } from '../process/processes.ts';
import {
  buildCommandChain,
  type ChainInput,
  openStdio,
  renderStartScript,
} from '../sandbox/command-chain.ts';
import type { Confinement, LaunchPlan } from '../sandbox/launch-plan.ts';
import { MIN_RUN_USER_ID } from '../sandbox/leftover-runs.ts';
import type { Containment } from '../types.ts';
import { DEFAULT_LIMITS } from './limits.ts';

export interface ConfinementCandidate {
  name: string;
  confinement: Confinement;
}

/** Where a user of its own for every run comes from when nothing narrows the range: far above all real users. */
const HIGH_USERS = { first: 2 ** 30, count: 2 ** 29 };
const FEWEST_USERS = 1_000;
const PATIENCE_MS = 10_000;

/** Strongest first. */
export function listCandidates(base: Confinement, required: Containment | undefined): ConfinementCandidate[] {
  const { tools } = base;
  const isRoot = process.getuid?.() === 0;
  const users = isRoot && tools.setpriv !== undefined ? userRange() : undefined;
  const list: ConfinementCandidate[] = [];
  const sandbox: Confinement = { ...base, level: 'sandbox', means: 'bwrap' };
  if (required !== 'limits' && process.platform === 'linux' && tools.bwrap !== undefined) {
    if (users !== undefined) {
      list.push({ name: 'bubblewrap as root', confinement: { ...sandbox, users, processLimitIsOwn: true } });
    }
    // A process of root is not bound by RLIMIT_NPROC, whatever it is called inside.
    const own = { ...sandbox, processLimitIsOwn: !isRoot };
    list.push({ name: 'bubblewrap', confinement: { ...own, bwrapFlags: ['--disable-userns'] } });
    list.push({ name: 'bubblewrap without --disable-userns', confinement: own });
  }
  if (required === 'sandbox') return list;
  const limits: Confinement = { ...base, level: 'limits' };
  const hasUnshare = process.platform === 'linux' && tools.unshare !== undefined;
  if (users !== undefined) {
    const stepped: Confinement = { ...limits, users, processLimitIsOwn: true };
    if (hasUnshare)
      list.push({ name: 'a pid namespace and own users', confinement: { ...stepped, means: 'pidns' } });
    list.push({ name: 'own users', confinement: stepped });
  }
  if (hasUnshare) {
    list.push({
      name: 'a pid namespace',
      confinement: { ...limits, means: 'pidns', processLimitIsOwn: !isRoot },
    });
  }
  list.push({ name: 'process groups', confinement: limits });
  return list;
}

/** The part of our user namespace from which runs get their users; undefined when it is too small. */
function userRange(): Confinement['users'] {
  for (const line of (readProcFile('/proc/self/uid_map') ?? '').split('\n')) {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    const end = first + count;
    if (end >= HIGH_USERS.first + HIGH_USERS.count) return HIGH_USERS;
    const from = Math.max(first, MIN_RUN_USER_ID);
    if (end - from >= FEWEST_USERS) return { first: from, count: end - from };
  }
  return undefined;
}

/** Returns what went wrong, or undefined when an app can be run this way. */
export async function tryCandidate(confinement: Confinement, scratch: string): Promise<string | undefined> {
  const folder = resolveRunFolder(join(scratch, `probe-${randomUUID()}`));
  const user = confinement.users?.first;
  try {
    mkdirSync(folder.root, { mode: 0o711 });
    for (const path of [folder.work, folder.tmp]) {
      mkdirSync(path);
      if (user !== undefined) chownSync(path, user, user);
    }
    const input: ChainInput = { confinement, plan: probePlan(folder.root), folder, shared: [] };
    if (user !== undefined) input.user = user;
    writeFileSync(folder.script, renderStartScript(input), { mode: 0o644 });
    writeFileSync(folder.stdin, '');
    return await attempt(input, user);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(folder.root, { recursive: true, force: true });
  }
}

async function attempt(input: ChainInput, user: number | undefined): Promise<string | undefined> {
  const { folder } = input;
  const chain = buildCommandChain(input);
  const stdio = openStdio(input, 0o600);
  if (user !== undefined) fchownSync(stdio[3] ?? 0, user, user);
  const options = { cwd: chain.cwd, stdio, env: { PATH: '/usr/bin:/bin' }, timeout: PATIENCE_MS };
  const child = spawn(chain.command, chain.arguments, options);
  for (const descriptor of stdio) closeSync(descriptor);
  const code = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (status, signal) => resolve(status ?? signal));
  });
  if (code === 0) return undefined;
  return readFileSync(folder.stderr, 'utf8').trim().split('\n').at(-1) || `the trial ended with ${code}.`;
}

/** An app that can enter its own folder by its full path and write there is an app that can run. */
function probePlan(folder: string): LaunchPlan {
  return {
    key: 'probe',
    folder,
    executableFolder: folder,
    workingDirectory: '',
    folders: [],
    secretFiles: [],
    command: ['/bin/sh', '-c', 'cd "$0" && : > trial', APP_ROOT_PLACEHOLDER],
    environment: {},
    limits: { ...DEFAULT_LIMITS, cores: 1, memoryBytes: 2 ** 30, durationMs: PATIENCE_MS },
    network: false,
    stdoutIsLog: false,
    graceMs: 0,
  };
}
