/** Tries confinements, strongest first, by running a trivial app in each. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, closeSync, fchownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { APP_ROOT_PLACEHOLDER, resolveRunFolder } from '../filesystem/run-folder.ts';
import { isHostFault } from '../process/host-faults.ts';
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

/** A confinement to try, with the name by which tests and messages refer to it. */
export interface ConfinementCandidate {
  name: string;
  confinement: Confinement;
}

/** User ids of runs when the user namespace has all ids: far above those of real users. */
const HIGH_USER_IDS = { first: 2 ** 30, count: 2 ** 29 };
const MIN_USER_IDS = 1_000;
const TIMEOUT_MS = 10_000;

/** Returns the confinements for the required level that the tools of this host allow, the strongest first. */
export function listCandidates(base: Confinement, required: Containment | undefined): ConfinementCandidate[] {
  const { tools } = base;
  const isRoot = process.getuid?.() === 0;
  const users = isRoot && tools.setpriv !== undefined ? findUserRange() : undefined;
  const list: ConfinementCandidate[] = [];
  const sandbox: Confinement = { ...base, level: 'sandbox', means: 'bwrap' };
  if (required !== 'limits' && process.platform === 'linux' && tools.bwrap !== undefined) {
    if (users !== undefined) {
      list.push({ name: 'bubblewrap as root', confinement: { ...sandbox, users, processLimitIsOwn: true } });
    }
    // RLIMIT_NPROC does not apply to a process of root, whichever user id it has inside the namespace.
    const unprivileged = { ...sandbox, processLimitIsOwn: !isRoot };
    list.push({ name: 'bubblewrap', confinement: { ...unprivileged, bwrapFlags: ['--disable-userns'] } });
    list.push({ name: 'bubblewrap without --disable-userns', confinement: unprivileged });
  }
  if (required === 'sandbox') return list;
  const limits: Confinement = { ...base, level: 'limits' };
  const hasUnshare = process.platform === 'linux' && tools.unshare !== undefined;
  if (users !== undefined) {
    const withOwnUsers: Confinement = { ...limits, users, processLimitIsOwn: true };
    if (hasUnshare)
      list.push({
        name: 'a pid namespace and own users',
        confinement: { ...withOwnUsers, means: 'pidns' },
      });
    list.push({ name: 'own users', confinement: withOwnUsers });
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

/** Returns the user ids of this user namespace that runs may have; undefined when there are too few. */
function findUserRange(): Confinement['users'] {
  for (const line of (readProcFile('/proc/self/uid_map') ?? '').split('\n')) {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    const end = first + count;
    if (end >= HIGH_USER_IDS.first + HIGH_USER_IDS.count) return HIGH_USER_IDS;
    const from = Math.max(first, MIN_RUN_USER_ID);
    if (end - from >= MIN_USER_IDS) return { first: from, count: end - from };
  }
  return undefined;
}

/**
 * Runs an app in a confinement; returns the error, or undefined when it works. Throws a host fault, such as a full disk,
 * which says nothing about the confinement.
 */
export async function tryCandidate(confinement: Confinement, scratch: string): Promise<string | undefined> {
  const folder = resolveRunFolder(join(scratch, `probe-${randomUUID()}`));
  const user = confinement.users?.first;
  try {
    mkdirSync(folder.root, { mode: 0o711 });
    for (const path of [folder.work, folder.tmp]) {
      mkdirSync(path);
      if (user !== undefined) chownSync(path, user, user);
    }
    const input: ChainInput = { confinement, plan: buildProbePlan(folder.root), folder, shared: [] };
    if (user !== undefined) input.user = user;
    writeFileSync(folder.script, renderStartScript(input), { mode: 0o644 });
    writeFileSync(folder.stdin, '');
    return await runProbe(input, user);
  } catch (error) {
    if (isHostFault(error)) throw error;
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(folder.root, { recursive: true, force: true });
  }
}

async function runProbe(input: ChainInput, user: number | undefined): Promise<string | undefined> {
  const { folder } = input;
  const chain = buildCommandChain(input);
  const stdio = openStdio(input, 0o600);
  if (user !== undefined) fchownSync(stdio[3] ?? 0, user, user);
  const options = { cwd: chain.cwd, stdio, env: { PATH: '/usr/bin:/bin' }, timeout: TIMEOUT_MS };
  const child = spawn(chain.command, chain.arguments, options);
  for (const descriptor of stdio) closeSync(descriptor);
  const code = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (status, signal) => resolve(status ?? signal));
  });
  if (code === 0) return undefined;
  return readFileSync(folder.stderr, 'utf8').trim().split('\n').at(-1) || `the probe ended with ${code}.`;
}

/** The app enters its own folder by its full path and writes there: what every app has to be able to do. */
function buildProbePlan(folder: string): LaunchPlan {
  return {
    key: 'probe',
    folder,
    executableFolder: folder,
    workingDirectory: '',
    folders: [],
    secretFiles: [],
    command: ['/bin/sh', '-c', 'cd "$0" && : > probe', APP_ROOT_PLACEHOLDER],
    environment: {},
    limits: { ...DEFAULT_LIMITS, cores: 1, memoryBytes: 2 ** 30, durationMs: TIMEOUT_MS },
    network: false,
    stdoutIsLog: false,
    graceMs: 0,
  };
}
