/**
 * Builds the command line, the start script and the stdio files of one app; the launcher starts them.
 *
 * The chain is [taskset] → bwrap or unshare → [setpriv] → sh → app. No process of the chain that still has rights receives
 * the app's environment: the unprivileged shell sets it just before the app. The shell is process 1 of the pid namespace,
 * so the app receives SIGTERM like any process and orphans are reaped. When the shell ends, the kernel kills every process
 * of the app before the parent of the shell returns.
 */
import { openSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import {
  APP_ROOT_PLACEHOLDER,
  type RunFolder,
  SANDBOX_APP_PATH,
  SANDBOX_COMPILED_PATH,
  SANDBOX_PREVIOUS_PATH,
} from '../filesystem/run-folder.ts';
import type { Confinement, LaunchPlan } from './launch-plan.ts';
import { listLineBuffering } from './line-buffering.ts';
import type { RunCgroups } from './run-cgroups.ts';

const MIB = 1024 * 1024;
/** JavaScript in the package of the command line. */
const EXTENSION = extname(import.meta.filename);
const FORWARDER = join(import.meta.dirname, `loopback-forwarder${EXTENSION}`);
/** No package.json in the sandbox says that it is a module, so its name does. */
const FORWARDER_NAME = `forwarder${EXTENSION.replace('.', '.m')}`;
/** It only copies bytes. */
const FORWARDER_HEAP_MIB = 32;
/** A process may reserve more memory than it uses; the watchdog or the cgroup limits resident memory. */
const DATA_HEADROOM_BYTES = 1024 * MIB;
/**
 * File descriptors of the chain: the start script, the file that records the start of the app, and the filter that
 * bubblewrap loads and closes. The last one is the app's stderr while that of the shell is closed.
 */
const SCRIPT_FD = 3;
const STARTED_FD = 4;
const FILTER_FD = 5;
const SAVED_STDERR_FD = 8;

/** Command line of a chain. */
interface CommandChain {
  command: string;
  arguments: string[];
  cwd: string;
}

/** User id of an app in a user namespace of its own. */
const SANDBOX_USER = 1000;

/** Everything that a chain depends on. */
export interface ChainInput {
  confinement: Confinement;
  plan: LaunchPlan;
  folder: RunFolder;
  /** User and group id of this run; absent when the runner is not root. */
  user?: number;
  /** Cores of the run; absent when it may use all. */
  cpus?: number[];
  /** Paths of the executable that the sandbox mounts read-only from the cache. */
  shared: string[];
  /** The cgroups of the run. */
  cgroup?: RunCgroups;
}

/** Builds the command line of a chain. */
export function buildCommandChain(input: ChainInput): CommandChain {
  const { confinement, folder, cpus, cgroup } = input;
  const { tools } = confinement;
  const parts: string[] = [];
  if (cgroup !== undefined) {
    // The shell joins the groups itself, so that no process of the run ever lives outside them.
    const joins = cgroup.folders.map((path) => `echo $$ > ${quoteShell(join(path, 'cgroup.procs'))} && `);
    parts.push(tools.sh, '-c', `${joins.join('')}exec "$@"`, 'sh');
  }
  if (cpus !== undefined && tools.taskset !== undefined) parts.push(tools.taskset, '-c', cpus.join(','));
  if (confinement.means === 'bwrap') parts.push(...buildBubblewrapArguments(input));
  if (confinement.means === 'pidns') parts.push(...buildPidNamespaceArguments(input));
  parts.push(...buildSetprivArguments(input));
  const isSandbox = confinement.means === 'bwrap';
  // A sandbox does not contain the run's folder; the open descriptor leads to the script.
  parts.push(...(isSandbox ? ['/bin/sh', `/dev/fd/${SCRIPT_FD}`] : [tools.sh, folder.script]));
  const [command = tools.sh, ...rest] = parts;
  return { command, arguments: rest, cwd: isSandbox ? '/' : join(folder.work, input.plan.workingDirectory) };
}

function buildBubblewrapArguments({ confinement, plan, folder, shared, user }: ChainInput): string[] {
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
    // Read-only, so that no process of the app can lower its oom_score_adj.
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev'],
    ...['--bind', folder.tmp, '/dev/shm', '--remount-ro', '/dev'],
    ...['--bind', folder.tmp, '/tmp', '--bind', folder.work, SANDBOX_APP_PATH],
    ...confinement.runtimeMounts,
    ...shared.flatMap((path) => {
      const place = plan.compiled?.shared.includes(path) ? 'compiled/root' : 'root';
      return ['--ro-bind', join(plan.executableFolder, place, path), join(SANDBOX_APP_PATH, path)];
    }),
    ...buildNodeCacheMount(plan, user ?? SANDBOX_USER),
    ...buildForwardMounts(plan),
    ...(plan.previousFile === undefined ? [] : ['--ro-bind', folder.previous, SANDBOX_PREVIOUS_PATH]),
    ...['--remount-ro', '/'],
    ...['--chdir', join(SANDBOX_APP_PATH, plan.workingDirectory)],
    '--',
  ];
}

/** Node reads its cache only from a folder named for its version and user. */
function buildNodeCacheMount({ executableFolder, compiled }: LaunchPlan, user: number): string[] {
  if (compiled?.nodeVersion === undefined) return [];
  const place = join(SANDBOX_COMPILED_PATH, `${compiled.nodeVersion}-${user}`);
  const parentFolder = ['--perms', '0755', '--dir', SANDBOX_COMPILED_PATH];
  return [...parentFolder, '--ro-bind', join(executableFolder, 'compiled/node'), place];
}

/** The folder of the forwarder inside a sandbox. */
const FORWARD_PATH = '/forward';

/** The forwarder needs Node, its program and the socket; the sandbox of an app of another type has no Node. */
function buildForwardMounts({ forward, network }: LaunchPlan): string[] {
  if (forward === undefined || network) return [];
  return [
    ...['--perms', '0755', '--dir', FORWARD_PATH],
    ...['--ro-bind', process.execPath, `${FORWARD_PATH}/node`],
    ...['--ro-bind', FORWARDER, `${FORWARD_PATH}/${FORWARDER_NAME}`],
    // The folder and not the socket, so that a socket that replaces it is seen too.
    ...['--ro-bind', dirname(forward.socketPath), `${FORWARD_PATH}/host`],
  ];
}

/** Starts the forwarder in the background, and waits until it has closed its stdout. */
function renderForwarder({ means }: Confinement, { forward, network }: LaunchPlan): string[] {
  if (forward === undefined || network || means !== 'bwrap') return [];
  const command = `${FORWARD_PATH}/node --max-old-space-size=${FORWARDER_HEAP_MIB} --v8-pool-size=1 ${FORWARD_PATH}/${FORWARDER_NAME} ${FORWARD_PATH}/host/${basename(forward.socketPath)} ${forward.port}`;
  const redirect = `</dev/null 2>/dev/null ${SCRIPT_FD}>&- ${STARTED_FD}>&- ${SAVED_STDERR_FD}>&-`;
  return [`: "$(${command} ${redirect} &)"`];
}

function buildPidNamespaceArguments({ confinement, user }: ChainInput): string[] {
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

/** A change of user clears the parent death signal, so setpriv sets it again afterwards. */
function buildSetprivArguments({ confinement, user }: ChainInput): string[] {
  const { setpriv } = confinement.tools;
  if (setpriv === undefined) return [];
  // With no-new-privs not even a setuid program gives an app more rights than the server has.
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
  /** Mode of a file that opening creates. */
  mode?: number;
}

/** Returns the files of a chain; the index of each is the number of its descriptor. */
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

/** Returns whether the start script has reached the app. */
export function hasAppStarted(folder: RunFolder): boolean {
  return (statSync(folder.started, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Renders the script that sets limits and environment and starts the app. With a pid namespace the shell stays as process
 * 1; without one it becomes the app. Messages of the shell ("Killed", "not found") do not enter the app's log.
 */
export function renderStartScript({ confinement, plan, folder, user }: ChainInput): string {
  const { limits } = plan;
  const root = confinement.means === 'bwrap' ? SANDBOX_APP_PATH : folder.work;
  const tmp = confinement.means === 'bwrap' ? '/tmp' : folder.tmp;
  const previous = confinement.means === 'bwrap' ? SANDBOX_PREVIOUS_PATH : folder.previous;
  const environment: Record<string, string> = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    USER: 'app',
    LOGNAME: 'app',
    HOME: tmp,
    TMPDIR: tmp,
    ...listLineBuffering(),
    ...(plan.compiled?.nodeVersion === undefined ? {} : { NODE_COMPILE_CACHE: SANDBOX_COMPILED_PATH }),
    ...plan.environment,
    ...(plan.previousFile === undefined ? {} : { SWITCHYARD_PREVIOUS: join(previous, plan.previousFile) }),
  };
  const value = (name: string): string => (environment[name] ?? '').replaceAll(APP_ROOT_PLACEHOLDER, root);
  const names = Object.keys(environment);
  const assignableNames = names.filter(
    (name) =>
      /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
      !RESERVED_SHELL_VARIABLES.has(name) &&
      !name.startsWith('BASH_'),
  );
  const otherNames = names.filter((name) => !assignableNames.includes(name));
  const words = plan.command.map((word) => quoteShell(word.replace(APP_ROOT_PLACEHOLDER, root)));
  if (otherNames.length > 0) {
    // `env` accepts names that a shell cannot assign.
    words.unshift('/usr/bin/env', ...otherNames.map((name) => quoteShell(`${name}=${value(name)}`)));
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
    // Linux enforces it; macOS does not.
    `ulimit -d ${dataKiB}`,
    ...(letter === '' ? [] : [`ulimit -${letter} ${limits.processes + (user === undefined ? 2 : 1)}`]),
    // Before the variables of the app: some of them change what Node does.
    ...renderForwarder(confinement, plan),
    ...assignableNames.map((name) => `export ${name}=${quoteShell(value(name))}`),
    // Closed before the app starts: it could reach the open files of the shell and truncate this one.
    `echo started >&${STARTED_FD}; exec ${STARTED_FD}>&-`,
    // In a subshell, because dash reports the death of a command on the stderr of that command.
    confinement.means === 'plain' ? `exec ${app} ${redirect}` : `(exec ${app} ${redirect})`,
    'exit $?',
    '',
  ].join('\n');
}

/** Variables with a meaning for shells: they refuse, change or act upon an assigned value. */
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

/** Returns RLIMIT_FSIZE in bytes. It applies to stdout and the log too, which must be able to reach their own limits. */
export function computeFileSizeLimitBytes({ limits }: LaunchPlan): number {
  return Math.max(limits.fileBytes, limits.outputBytes + MIB, limits.logBytes * 2 + MIB);
}

/** Quotes a text as one word of a shell command. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
