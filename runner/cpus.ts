/** Which cores a run is bound to: the least used ones, so that runs of few cores spread over the host. */
import { availableParallelism } from 'node:os';
import { readProc } from './processes.ts';

export interface CpuShare {
  cpus: number[];
  giveBack(): void;
}

const used = new Map<number, number>(allowedCpus().map((cpu) => [cpu, 0]));

export function takeCpus(count: number): CpuShare {
  const cpus = [...used]
    .sort((a, b) => a[1] - b[1] || a[0] - b[0])
    .slice(0, count)
    .map(([cpu]) => cpu);
  const add = (by: number): void => {
    for (const cpu of cpus) used.set(cpu, (used.get(cpu) ?? 0) + by);
  };
  add(1);
  return { cpus, giveBack: () => add(-1) };
}

/** The cores we may use ourselves, by number; a container may leave out some. */
function allowedCpus(): number[] {
  const list = /^Cpus_allowed_list:\s+(\S+)/m.exec(readProc('/proc/self/status') ?? '')?.[1];
  if (list === undefined) return Array.from({ length: availableParallelism() }, (_, cpu) => cpu);
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}
