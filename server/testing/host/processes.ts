/** What the host says of its processes, for tests that kill some and look for others. */
import { readdirSync, readFileSync } from 'node:fs';

const pids = (): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid));

/** The text of a file below the process's folder, or empty when the process is gone. */
function about(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** State, parent: what stands behind the name, which may itself hold spaces and parentheses. */
function stat(pid: number): { state: string; parent: number } {
  const text = about(pid, 'stat');
  const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state, parent: Number(parent) };
}

/** Of the kernel's count of processor time, which Linux gives to programs in these units on every machine. */
const TICK_MS = 10;

/** Processor time of the process and of all that it started, of what has ended too, in ms. */
export function readCpuMs(root: number): number {
  let ticks = 0;
  for (const pid of listDescendants(root)) {
    const text = about(pid, 'stat');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // utime, stime, and those of its children that were waited for.
    for (const at of [11, 12, 13, 14]) ticks += Number(fields[at] ?? 0);
  }
  return ticks * TICK_MS;
}

export function listChildren(parent: number): number[] {
  return pids().filter((pid) => stat(pid).parent === parent);
}

/** The process and everything below it, parents first. */
export function listDescendants(pid: number): number[] {
  return [pid, ...listChildren(pid).flatMap(listDescendants)];
}

/** Processes, zombies aside, whose command line has the text. */
export function findProcessesByCommand(text: string): number[] {
  return pids().filter((pid) => about(pid, 'cmdline').includes(text) && stat(pid).state !== 'Z');
}

/** The value of a variable in the environment the process was started with. */
export function readEnvironmentVariable(pid: number, name: string): string | undefined {
  const entry = about(pid, 'environ')
    .split('\0')
    .find((one) => one.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

/** Apps that live, of whatever server: the run each belongs to. */
export function listRunningApps(): Map<number, string> {
  const apps = new Map<number, string>();
  for (const pid of pids()) {
    const run = readEnvironmentVariable(pid, 'NEXTMV_RUN_ID');
    if (run !== undefined && stat(pid).state !== 'Z') apps.set(pid, run);
  }
  return apps;
}

/** Processes, zombies aside, that were started with a command or a variable that names it. */
export function findProcessesInFolder(folder: string): number[] {
  const names = (pid: number) => `${about(pid, 'cmdline')}\0${about(pid, 'environ')}`;
  return pids().filter((pid) => names(pid).includes(folder) && stat(pid).state !== 'Z');
}
