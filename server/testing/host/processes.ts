/** Finds processes in /proc, for tests that kill some of them. */
import { readdirSync, readFileSync } from 'node:fs';

const listPids = (): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid));

/** Returns the text of a file in the folder of the process; empty when the process has ended. */
function readProcessFile(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Parses the fields after the name, because the name may contain spaces and parentheses. */
function readStat(pid: number): { state: string; parent: number } {
  const text = readProcessFile(pid, 'stat');
  const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state, parent: Number(parent) };
}

/** The unit of processor time in /proc: 100 ticks a second on every Linux (USER_HZ). */
const TICK_MS = 10;

/** Returns the processor time in ms of the process and of all its descendants, ended ones included. */
export function readCpuMs(root: number): number {
  let ticks = 0;
  for (const pid of listDescendants(root)) {
    const text = readProcessFile(pid, 'stat');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // utime, stime, cutime and cstime; the last two are of ended children.
    for (const index of [11, 12, 13, 14]) ticks += Number(fields[index] ?? 0);
  }
  return ticks * TICK_MS;
}

/** Lists the direct children of the process. */
export function listChildren(parent: number): number[] {
  return listPids().filter((pid) => readStat(pid).parent === parent);
}

/** Lists the process and all its descendants, parents first. */
export function listDescendants(pid: number): number[] {
  return [pid, ...listChildren(pid).flatMap(listDescendants)];
}

/** Finds processes, except zombies, whose command line contains the text. */
export function findProcessesByCommand(text: string): number[] {
  return listPids().filter(
    (pid) => readProcessFile(pid, 'cmdline').includes(text) && readStat(pid).state !== 'Z',
  );
}

/** Returns the value of a variable in the initial environment of the process. */
export function readEnvironmentVariable(pid: number, name: string): string | undefined {
  const entry = readProcessFile(pid, 'environ')
    .split('\0')
    .find((variable) => variable.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

/** Lists the running apps of all servers: the run id by process id. */
export function listRunningApps(): Map<number, string> {
  const apps = new Map<number, string>();
  for (const pid of listPids()) {
    const run = readEnvironmentVariable(pid, 'NEXTMV_RUN_ID');
    if (run !== undefined && readStat(pid).state !== 'Z') apps.set(pid, run);
  }
  return apps;
}

/** Finds processes, except zombies, with the folder in their command line or environment. */
export function findProcessesInFolder(folder: string): number[] {
  const readCommandAndEnvironment = (pid: number) =>
    `${readProcessFile(pid, 'cmdline')}\0${readProcessFile(pid, 'environ')}`;
  return listPids().filter(
    (pid) => readCommandAndEnvironment(pid).includes(folder) && readStat(pid).state !== 'Z',
  );
}

/** Kills the process. Does nothing for one that has ended: the children of a killed process often end with it. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
