/**
 * Looks at processes and ends them. On Linux it reads /proc, elsewhere it asks ps. Synchronous on purpose: it is used
 * in the launcher, which does nothing else, and a look at /proc costs microseconds.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

export interface ProcessInfo {
  pid: number;
  parentPid: number;
  processGroupId: number;
  sessionId: number;
  /** R, S, D, T, Z … */
  state: string;
  threads: number;
  residentBytes: number;
  /** Clock ticks since boot; with the pid it names one process for ever. Empty where ps is asked. */
  startTicks: string;
}

const LINUX = process.platform === 'linux';
const PAGE_BYTES = 4096;
let buffer = Buffer.alloc(64 * 1024);

/** The text of a small file of /proc; undefined when the process is gone or not ours to look at. */
export function readProcFile(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    let length = 0;
    for (;;) {
      const got = readSync(fd, buffer, length, buffer.length - length, null);
      length += got;
      if (got === 0) return buffer.toString('utf8', 0, length);
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length)]);
    }
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

export function inspectProcess(pid: number): ProcessInfo | undefined {
  const text = readProcFile(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name in parentheses may hold anything, parentheses included.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const number = (index: number): number => Number(fields[index] ?? 0);
  return {
    pid,
    state: fields[0] ?? '',
    parentPid: number(1),
    processGroupId: number(2),
    sessionId: number(3),
    threads: number(17),
    startTicks: fields[19] ?? '',
    residentBytes: number(21) * PAGE_BYTES,
  };
}

/** Children in the order in which they came to be (an adopted orphan comes later). */
export function listChildren(pid: number): number[] {
  if (!LINUX) return listProcesses().flatMap((one) => (one.parentPid === pid ? [one.pid] : []));
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  const children: number[] = [];
  for (const thread of threads) {
    const text = readProcFile(`/proc/${pid}/task/${thread}/children`);
    for (const word of text?.split(' ') ?? []) {
      if (word !== '') children.push(Number(word));
    }
  }
  return children;
}

/** The parents of a process, the nearest first. */
export function listAncestors(pid: number): number[] {
  const parents: number[] = [];
  for (let one = inspectProcess(pid)?.parentPid ?? 0; one > 0; one = inspectProcess(one)?.parentPid ?? 0)
    parents.push(one);
  return parents;
}

/** The process and everything that descends from it, parents first. */
export function listProcessTree(pid: number): ProcessInfo[] {
  if (!LINUX) return treeWithin(listProcesses(), pid);
  const root = inspectProcess(pid);
  const tree = root === undefined ? [] : [root];
  for (const one of tree) {
    for (const child of listChildren(one.pid)) {
      const info = inspectProcess(child);
      if (info !== undefined) tree.push(info);
    }
  }
  return tree;
}

function treeWithin(all: ProcessInfo[], pid: number): ProcessInfo[] {
  const tree = all.filter((one) => one.pid === pid);
  for (const one of tree)
    tree.push(...all.filter((other) => other.parentPid === one.pid && other.pid !== pid));
  return tree;
}

export function listProcesses(): ProcessInfo[] {
  if (!LINUX) return askPs();
  return pids().flatMap((pid) => inspectProcess(pid) ?? []);
}

/** Starting ps costs milliseconds, so one answer serves all who ask within a moment. */
const PS_SERVES_MS = 20;
let lastPs: { at: number; list: ProcessInfo[] } | undefined;

function askPs(): ProcessInfo[] {
  if (lastPs === undefined || performance.now() - lastPs.at > PS_SERVES_MS) {
    const list = parsePs(execFileSync('ps', PS_ARGUMENTS, { encoding: 'utf8', maxBuffer: 2 ** 26 }));
    lastPs = { at: performance.now(), list };
  }
  return lastPs.list;
}

function pids(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^[0-9]+$/.test(name) ? [Number(name)] : []));
}

/** Understood by the ps of macOS and of Linux. */
const PS_ARGUMENTS = ['-axo', 'pid=,ppid=,pgid=,state=,rss='];

function parsePs(text: string): ProcessInfo[] {
  return text.split('\n').flatMap((line) => {
    const [pid, parent, group, state, resident] = line.trim().split(/\s+/);
    if (resident === undefined) return [];
    return {
      pid: Number(pid),
      parentPid: Number(parent),
      processGroupId: Number(group),
      sessionId: 0,
      state: state ?? '',
      threads: 1,
      residentBytes: Number(resident) * 1024,
      startTicks: '',
    };
  });
}

/** Memory of the processes with pages they share counted once; slow, so it is asked only when it decides something. */
export function readProportionalBytes(processes: ProcessInfo[]): number {
  let sum = 0;
  for (const one of processes) {
    const text = readProcFile(`/proc/${one.pid}/smaps_rollup`);
    const kib = text === undefined ? null : /^Pss:\s+([0-9]+) kB/m.exec(text);
    sum += kib === null || kib === undefined ? one.residentBytes : Number(kib[1]) * 1024;
  }
  return sum;
}

/** Processes whose environment began with one of these markers (`SWITCHYARD_RUN=…`), dead ones left out. */
export function findProcessesByMarker(matches: (value: string) => boolean): number[] {
  if (!LINUX) return withMarkerByPs(matches);
  return pids().filter((pid) => {
    if (pid === process.pid) return false;
    const text = readProcFile(`/proc/${pid}/environ`);
    return text
      ?.split('\0')
      .some((entry) => entry.startsWith(MARKER_PREFIX) && matches(entry.slice(MARKER_PREFIX.length)));
  });
}

function withMarkerByPs(matches: (value: string) => boolean): number[] {
  const text = execFileSync('ps', ['-axEwwo', 'pid=,command='], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return text.split('\n').flatMap((line) => {
    const pid = Number.parseInt(line, 10);
    const found = line.split(' ').find((word) => word.startsWith(MARKER_PREFIX));
    const hit = found !== undefined && matches(found.slice(MARKER_PREFIX.length)) && pid !== process.pid;
    return hit ? [pid] : [];
  });
}

export const RUN_MARKER_VARIABLE = 'SWITCHYARD_RUN';
const MARKER_PREFIX = `${RUN_MARKER_VARIABLE}=`;

/** Processes of these users; for runs that have a user of their own. */
export function findProcessesByUsers(users: Set<number>): number[] {
  if (users.size === 0) return [];
  return pids().filter((pid) => {
    const status = readProcFile(`/proc/${pid}/status`);
    const uid = status === undefined ? null : /^Uid:\s+([0-9]+)/m.exec(status);
    return uid !== null && users.has(Number(uid[1]));
  });
}

/**
 * Processes that can write to one of these files and began no earlier than `since`: a daemon that cleared its
 * environment but kept its output is found by this. Whoever only reads the files (we do, and an operator may) is not.
 */
export function findWriters(files: string[], since: string): number[] {
  if (!LINUX) return [];
  return pids().filter((pid) => {
    if (pid === process.pid || pid === process.ppid) return false;
    if (Number(inspectProcess(pid)?.startTicks ?? 0) < Number(since)) return false;
    try {
      return readdirSync(`/proc/${pid}/fd`).some((one) => {
        const path = `/proc/${pid}/fd/${one}`;
        return files.includes(readlinkSync(path)) && (lstatSync(path).mode & 0o200) !== 0;
      });
    } catch {
      // Not ours to look at, or gone.
      return false;
    }
  });
}

/** True when the process was there to be signalled. */
export function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Kills what `find` finds until it finds nothing alive. Everything is stopped before it is killed, so that a process
 * that forks as fast as it can does not outrun us. Gives up after `patienceMs` and returns what is still there.
 */
export async function killUntilGone(find: () => Iterable<number>, patienceMs = 10_000): Promise<number[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const alive = [...new Set(find())].filter(isAlive);
    if (alive.length === 0 || performance.now() > deadline) return alive;
    for (const pid of alive) sendSignal(pid, 'SIGSTOP');
    for (const pid of alive) sendSignal(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A zombie is dead: it holds nothing and only waits for its parent to notice. */
function isAlive(pid: number): boolean {
  if (!LINUX) return !(listProcesses().find((one) => one.pid === pid)?.state ?? 'Z').startsWith('Z');
  const state = inspectProcess(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}
