/**
 * Inspects and kills processes. On Linux it reads /proc, elsewhere it runs ps. Synchronous on purpose: the launcher does
 * nothing else, and a read of /proc takes microseconds.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

/** State of one process at one moment. */
export interface ProcessInfo {
  pid: number;
  parentPid: number;
  processGroupId: number;
  sessionId: number;
  /** R, S, D, T, Z … */
  state: string;
  threads: number;
  residentBytes: number;
  /** Processor time in ticks of 10 ms, with that of children that it waited for; 0 where ps is used. */
  cpuTicks: number;
  /** Clock ticks since boot; together with the pid it identifies one process. Empty where ps is used. */
  startTicks: string;
}

const LINUX = process.platform === 'linux';
const PAGE_BYTES = 4096;
/** Reads files of /proc into one buffer, because an allocation costs more than the read. */
class ProcFileReader {
  /** Grows to the largest file so far. */
  #buffer = Buffer.alloc(64 * 1024);

  read(path: string): string | undefined {
    let fd: number;
    try {
      fd = openSync(path, 'r');
    } catch {
      return undefined;
    }
    try {
      return this.#readAll(fd);
    } catch {
      return undefined;
    } finally {
      closeSync(fd);
    }
  }

  #readAll(fd: number): string {
    let length = 0;
    for (;;) {
      const bytesRead = readSync(fd, this.#buffer, length, this.#buffer.length - length, null);
      length += bytesRead;
      if (bytesRead === 0) return this.#buffer.toString('utf8', 0, length);
      if (length === this.#buffer.length)
        this.#buffer = Buffer.concat([this.#buffer, Buffer.alloc(this.#buffer.length)]);
    }
  }
}

const procFiles = new ProcFileReader();

/** Returns the text of a small file of /proc; undefined when the process is gone or the file is not readable. */
export function readProcFile(path: string): string | undefined {
  return procFiles.read(path);
}

/** Returns the state of a process; undefined when it does not exist. Linux only. */
export function inspectProcess(pid: number): ProcessInfo | undefined {
  const text = readProcFile(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The process name in parentheses may contain any character, parentheses included.
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
    cpuTicks: number(11) + number(12) + number(13) + number(14),
  };
}

/** Returns the ids of the children in the order of their start; an adopted orphan comes last. */
export function listChildren(pid: number): number[] {
  if (!LINUX) return listProcesses().flatMap((entry) => (entry.parentPid === pid ? [entry.pid] : []));
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

/** Returns the ids of the ancestors of a process, the nearest first. */
export function listAncestors(pid: number): number[] {
  const parents: number[] = [];
  for (let next = inspectProcess(pid)?.parentPid ?? 0; next > 0; next = inspectProcess(next)?.parentPid ?? 0)
    parents.push(next);
  return parents;
}

/** Returns the process and all its descendants, parents first. */
export function listProcessTree(pid: number): ProcessInfo[] {
  if (!LINUX) return selectTree(listProcesses(), pid);
  const root = inspectProcess(pid);
  const tree = root === undefined ? [] : [root];
  for (const entry of tree) {
    for (const child of listChildren(entry.pid)) {
      const info = inspectProcess(child);
      if (info !== undefined) tree.push(info);
    }
  }
  return tree;
}

function selectTree(all: ProcessInfo[], pid: number): ProcessInfo[] {
  const tree = all.filter((entry) => entry.pid === pid);
  for (const entry of tree)
    tree.push(...all.filter((other) => other.parentPid === entry.pid && other.pid !== pid));
  return tree;
}

/** Returns every process of this machine. */
export function listProcesses(): ProcessInfo[] {
  if (!LINUX) return psCommand.list();
  return listPids().flatMap((pid) => inspectProcess(pid) ?? []);
}

/** ps takes milliseconds to start, so its result serves all calls within this time. */
const PS_RESULT_VALID_MS = 20;

/** Lists processes by ps, for systems without /proc. */
class PsCommand {
  #last: { at: number; processes: ProcessInfo[] } | undefined;

  list(): ProcessInfo[] {
    if (this.#last === undefined || performance.now() - this.#last.at > PS_RESULT_VALID_MS) {
      const text = execFileSync('ps', PS_ARGUMENTS, { encoding: 'utf8', maxBuffer: 2 ** 26 });
      this.#last = { at: performance.now(), processes: parsePs(text) };
    }
    return this.#last.processes;
  }
}

const psCommand = new PsCommand();

function listPids(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^[0-9]+$/.test(name) ? [Number(name)] : []));
}

/** The ps of macOS and that of Linux accept these. */
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
      cpuTicks: 0,
      startTicks: '',
    };
  });
}

/** Returns the memory of the processes with shared pages counted once. Slow: call it only to confirm a breach. */
export function readProportionalBytes(processes: ProcessInfo[]): number {
  let sum = 0;
  for (const entry of processes) {
    const text = readProcFile(`/proc/${entry.pid}/smaps_rollup`);
    const match = text === undefined ? null : /^Pss:\s+([0-9]+) kB/m.exec(text);
    sum += match === null ? entry.residentBytes : Number(match[1]) * 1024;
  }
  return sum;
}

/** Returns the ids of live processes whose initial environment has a matching run marker (`SWITCHYARD_RUN=…`). */
export function findProcessesByMarker(matches: (value: string) => boolean): number[] {
  if (!LINUX) return findProcessesByMarkerWithPs(matches);
  return listPids().filter((pid) => {
    if (pid === process.pid) return false;
    const text = readProcFile(`/proc/${pid}/environ`);
    return text
      ?.split('\0')
      .some((entry) => entry.startsWith(MARKER_PREFIX) && matches(entry.slice(MARKER_PREFIX.length)));
  });
}

function findProcessesByMarkerWithPs(matches: (value: string) => boolean): number[] {
  const text = execFileSync('ps', ['-axEwwo', 'pid=,command='], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return text.split('\n').flatMap((line) => {
    const pid = Number.parseInt(line, 10);
    const marker = line.split(' ').find((word) => word.startsWith(MARKER_PREFIX));
    if (marker === undefined || pid === process.pid) return [];
    return matches(marker.slice(MARKER_PREFIX.length)) ? [pid] : [];
  });
}

/** Environment variable that identifies the processes of a run: `<marker of the runner>/<run key>`. */
export const RUN_MARKER_VARIABLE = 'SWITCHYARD_RUN';
const MARKER_PREFIX = `${RUN_MARKER_VARIABLE}=`;

/** Returns the ids of processes of these users, for runs with a user of their own. */
export function findProcessesByUsers(users: Set<number>): number[] {
  if (users.size === 0) return [];
  return listPids().filter((pid) => {
    const status = readProcFile(`/proc/${pid}/status`);
    const uid = status === undefined ? null : /^Uid:\s+([0-9]+)/m.exec(status);
    return uid !== null && users.has(Number(uid[1]));
  });
}

/**
 * Returns the ids of processes that can write to one of these files and that started no earlier than `since` (clock
 * ticks). It finds a daemon that cleared its environment but kept its output. Readers of the files do not count: the
 * server and an operator may read them.
 */
export function findWriters(files: string[], since: string): number[] {
  if (!LINUX) return [];
  return listPids().filter((pid) => {
    if (pid === process.pid || pid === process.ppid) return false;
    if (Number(inspectProcess(pid)?.startTicks ?? 0) < Number(since)) return false;
    try {
      return readdirSync(`/proc/${pid}/fd`).some((descriptor) => {
        const path = `/proc/${pid}/fd/${descriptor}`;
        return files.includes(readlinkSync(path)) && (lstatSync(path).mode & 0o200) !== 0;
      });
    } catch {
      // The process ended, or belongs to another user.
      return false;
    }
  });
}

/** Sends a signal; returns whether the process existed. */
export function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Kills the processes that `find` returns until it returns no live one. It stops all of them before it kills the first,
 * so that a process that forks in a loop cannot outrun it. Returns the ids of processes that survive `timeoutMs`.
 */
export async function killUntilGone(find: () => Iterable<number>, timeoutMs = 10_000): Promise<number[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const alive = [...new Set(find())].filter(isAlive);
    if (alive.length === 0 || performance.now() > deadline) return alive;
    for (const pid of alive) sendSignal(pid, 'SIGSTOP');
    for (const pid of alive) sendSignal(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A zombie counts as dead: it holds no resources and waits only for its parent. */
function isAlive(pid: number): boolean {
  if (!LINUX) return !(listProcesses().find((entry) => entry.pid === pid)?.state ?? 'Z').startsWith('Z');
  const state = inspectProcess(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}
