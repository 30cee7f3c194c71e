/**
 * The command line and the start script that hold one app, and the files they are started with. The launcher runs what
 * comes out.
 *
 * The chain is [taskset] → bwrap or unshare → [setpriv] → sh → app. Nothing of the app's environment reaches a link of
 * the chain that still has rights: the shell, already stepped down, sets it just before the app. The shell is process
 * 1 of the pid namespace, so the app gets SIGTERM like any process, orphans are reaped, and when it ends the kernel
 * kills whatever the app left behind before the link above it returns.
 */
import { openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  APP_ROOT_PLACEHOLDER,
  type RunFolder,
  SANDBOX_APP_PATH,
  SANDBOX_COMPILED_PATH,
} from '../filesystem/run-folder.ts';
import type { Confinement, LaunchPlan } from './launch-plan.ts';
import type { RunCgroups } from './run-cgroups.ts';

const MIB = 1024 * 1024;
/** A process may reserve more than it touches; resident memory is held by the watchdog or the cgroup. */
const DATA_HEADROOM_BYTES = 1024 * MIB;
/**
 * File descriptors of the chain: the start script, where it says that it is about to start the app, the filter that
 * bubblewrap loads and closes, and the app's stderr while the shell's own is closed.
 */
const SCRIPT_FD = 3;
const STARTED_FD = 4;
const FILTER_FD = 5;
const SAVED_STDERR_FD = 8;

export interface CommandChain {
  command: string;
  arguments: string[];
  cwd: string;
}

/** Who an app is in a user namespace of its own. */
const SANDBOX_USER = 1000;

export interface ChainInput {
  confinement: Confinement;
  plan: LaunchPlan;
  folder: RunFolder;
  /** The user and group id of this run when we are root. */
  user?: number;
  /** Cores the run is bound to; absent when it may use all. */
  cpus?: number[];
  /** Paths of the executable that are bound read-only from the cache; sandbox only. */
  shared: string[];
  /** The cgroups of the run. */
  cgroup?: RunCgroups;
}

export function buildCommandChain(input: ChainInput): CommandChain {
  const { confinement, folder, cpus, cgroup } = input;
  const { tools } = confinement;
  const parts: string[] = [];
  if (cgroup !== undefined) {
    // The shell joins the groups itself, so that nothing of the run ever lives outside them.
    const joins = cgroup.folders.map((path) => `echo $$ > ${quote(join(path, 'cgroup.procs'))} && `);
    parts.push(tools.sh, '-c', `${joins.join('')}exec "$@"`, 'sh');
  }
  if (cpus !== undefined && tools.taskset !== undefined) parts.push(tools.taskset, '-c', cpus.join(','));
  if (confinement.means === 'bwrap') parts.push(...bubblewrap(input));
  if (confinement.means === 'pidns') parts.push(...pidNamespace(input));
  parts.push(...stepDown(input));
  const inSandbox = confinement.means === 'bwrap';
  // The run's folder is out of sight in a sandbox; only the open file leads to the script.
  parts.push(...(inSandbox ? ['/bin/sh', `/dev/fd/${SCRIPT_FD}`] : [tools.sh, folder.script]));
  const [command = tools.sh, ...rest] = parts;
  return { command, arguments: rest, cwd: inSandbox ? '/' : join(folder.work, input.plan.workingDirectory) };
}

function bubblewrap({ confinement, plan, folder, shared, user }: ChainInput): string[] {
  return [
    confinement.tools.bwrap ?? 'bwrap',
    '--die-with-parent',
    '--new-session',
    '--as-pid-1',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    ...(plan.network ? [] : ['--unshare-net']),
    ...(user === undefined ? ['--unshare-user', '--uid', `${SANDBOX_USER}`, '--gid', `${SANDBOX_USER}`] : []),
    ...['--cap-drop', 'ALL'],
    ...(user === undefined ? [] : ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID']),
    ...confinement.bwrapFlags,
    ...(confinement.filterFile === undefined ? [] : ['--seccomp', String(FILTER_FD)]),
    ...['--hostname', 'app'],
    ...confinement.systemMounts,
    ...confinement.etcMounts,
    ...(plan.network ? ['--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf'] : []),
    // Read-only, so that no process of the app can make itself one that the kernel would rather keep.
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev'],
    ...['--bind', folder.tmp, '/dev/shm', '--remount-ro', '/dev'],
    ...['--bind', folder.tmp, '/tmp', '--bind', folder.work, SANDBOX_APP_PATH],
    ...confinement.runtimeMounts,
    ...shared.flatMap((path) => {
      const place = plan.compiled?.shared.includes(path) ? 'compiled/root' : 'root';
      return ['--ro-bind', join(plan.executableFolder, place, path), join(SANDBOX_APP_PATH, path)];
    }),
    ...nodeCache(plan, user ?? SANDBOX_USER),
    ...['--remount-ro', '/'],
    ...['--chdir', join(SANDBOX_APP_PATH, plan.workingDirectory)],
    '--',
  ];
}

/** Node takes what was compiled only from a folder that is named for its own version and user. */
function nodeCache({ executableFolder, compiled }: LaunchPlan, user: number): string[] {
  if (compiled?.nodeVersion === undefined) return [];
  const place = join(SANDBOX_COMPILED_PATH, `${compiled.nodeVersion}-${user}`);
  const above = ['--perms', '0755', '--dir', SANDBOX_COMPILED_PATH];
  return [...above, '--ro-bind', join(executableFolder, 'compiled/node'), place];
}

function pidNamespace({ confinement, user }: ChainInput): string[] {
  const { setpriv, unshare } = confinement.tools;
  return [
    ...(setpriv === undefined
      ? []
      : [setpriv, ...(user === undefined ? ['--no-new-privs'] : []), '--pdeathsig', 'KILL']),
    unshare ?? 'unshare',
    ...(user === undefined ? ['--user', '--map-current-user'] : []),
    ...['--pid', '--ipc', '--fork', '--mount-proc', '--kill-child=SIGKILL', '--'],
  ];
}

/** A change of user clears the wish to die with the parent, so it is made again behind it. */
function stepDown({ confinement, user }: ChainInput): string[] {
  const { setpriv } = confinement.tools;
  if (setpriv === undefined) return [];
  // Not even a program that is made for it gives an app more rights than the server has.
  if (user === undefined) return confinement.means === 'plain' ? [setpriv, '--no-new-privs'] : [];
  const id = String(user);
  return [
    setpriv,
    ...[
      '--reuid',
      id,
      '--regid',
      id,
      '--clear-groups',
      '--inh-caps=-all',
      '--no-new-privs',
      '--pdeathsig',
      'KILL',
    ],
  ];
}

export interface StdioFile {
  path: string;
  flags: 'r' | 'a';
  /** Of a file that opening creates. */
  mode?: number;
}

/** The files a chain is started with; the position of each in the list is its descriptor's number. */
export function listStdioFiles({ confinement, folder }: ChainInput, mode: number): StdioFile[] {
  const filter = confinement.means === 'bwrap' ? confinement.filterFile : undefined;
  return [
    { path: folder.stdin, flags: 'r' },
    { path: folder.stdout, flags: 'a', mode },
    { path: folder.stderr, flags: 'a', mode },
    { path: folder.script, flags: 'r' },
    { path: folder.started, flags: 'a', mode: 0o600 },
    ...(filter === undefined ? [] : [{ path: filter, flags: 'r' as const }]),
  ];
}

/** Opens the stdio files in their order; the caller closes the descriptors. */
export function openStdio(input: ChainInput, mode: number): number[] {
  return listStdioFiles(input, mode).map((file) => openSync(file.path, file.flags, file.mode));
}

/** Whether the start script came as far as the app. */
export function hasAppStarted(folder: RunFolder): boolean {
  return (statSync(folder.started, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * The script that sets limits and environment and starts the app. With a pid namespace the shell stays as process 1;
 * without one it becomes the app. Its own messages ("Killed", "not found") are kept out of the app's log.
 */
export function renderStartScript({ confinement, plan, folder, user }: ChainInput): string {
  const { limits } = plan;
  const root = confinement.means === 'bwrap' ? SANDBOX_APP_PATH : folder.work;
  const tmp = confinement.means === 'bwrap' ? '/tmp' : folder.tmp;
  const environment: Record<string, string> = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    USER: 'app',
    LOGNAME: 'app',
    HOME: tmp,
    TMPDIR: tmp,
    ...(plan.compiled?.nodeVersion === undefined ? {} : { NODE_COMPILE_CACHE: SANDBOX_COMPILED_PATH }),
    ...plan.environment,
  };
  const value = (name: string): string => (environment[name] ?? '').replaceAll(APP_ROOT_PLACEHOLDER, root);
  const names = Object.keys(environment);
  const assignable = names.filter(
    (name) =>
      /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
      !RESERVED_SHELL_VARIABLES.has(name) &&
      !name.startsWith('BASH_'),
  );
  const others = names.filter((name) => !assignable.includes(name));
  const words = plan.command.map((word) => quote(word.replace(APP_ROOT_PLACEHOLDER, root)));
  if (others.length > 0) {
    // `env` takes names that a shell cannot assign.
    words.unshift('/usr/bin/env', ...others.map((name) => quote(`${name}=${value(name)}`)));
  }
  const app = words.join(' ');
  const letter = confinement.processLimitIsOwn ? confinement.processLimitLetter : '';
  const blocks = Math.ceil(computeFileSizeLimitBytes(plan) / 512);
  const dataKiB = Math.ceil((limits.memoryBytes + DATA_HEADROOM_BYTES) / 1024);
  const redirect = `2>&${SAVED_STDERR_FD} ${SCRIPT_FD}>&- ${SAVED_STDERR_FD}>&-`;
  return [
    `exec ${SAVED_STDERR_FD}>&2 2>/dev/null`,
    'umask 022',
    'ulimit -c 0',
    `ulimit -n ${limits.openFiles}`,
    `ulimit -f ${blocks}`,
    // macOS does not hold a process to it; Linux does.
    `ulimit -d ${dataKiB}`,
    ...(letter === '' ? [] : [`ulimit -${letter} ${limits.processes + (user === undefined ? 2 : 1)}`]),
    ...assignable.map((name) => `export ${name}=${quote(value(name))}`),
    // Closed before the app is there, which could reach the shell's open files and say that it never started.
    `echo started >&${STARTED_FD}; exec ${STARTED_FD}>&-`,
    // In a shell of its own, because dash says how a command died to where that command's errors go.
    confinement.means === 'plain' ? `exec ${app} ${redirect}` : `(exec ${app} ${redirect})`,
    'exit $?',
    '',
  ].join('\n');
}

/** Names that shells keep for themselves: what is assigned to them is refused, changed or acted upon. */
export const RESERVED_SHELL_VARIABLES = new Set([
  ...[
    '_',
    'IFS',
    'UID',
    'EUID',
    'GID',
    'EGID',
    'PPID',
    'PWD',
    'OLDPWD',
    'LINENO',
    'OPTIND',
    'RANDOM',
    'SECONDS',
  ],
  ...['SHELLOPTS', 'BASHOPTS', 'POSIXLY_CORRECT', 'GROUPS', 'FUNCNAME', 'DIRSTACK', 'HISTCMD', 'HISTSIZE'],
  ...['MAIL', 'MAILPATH', 'MAILCHECK', 'FCEDIT', 'ATTY', 'PS4'],
]);

/** RLIMIT_FSIZE covers stdout and the log too, which have limits of their own and must be able to reach them. */
export function computeFileSizeLimitBytes({ limits }: LaunchPlan): number {
  return Math.max(limits.fileBytes, limits.outputBytes + MIB, limits.logBytes * 2 + MIB);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
