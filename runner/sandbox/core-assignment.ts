/** Which cores a run is bound to: the least used ones, so that runs of few cores spread over the host. */
import { availableParallelism } from 'node:os';
import { readProcFile } from '../process/processes.ts';

export interface CoreAssignment {
  cpus: number[];
  release(): void;
}

const used = new Map<number, number>(allowedCpus().map((cpu) => [cpu, 0]));

export function assignCores(count: number): CoreAssignment {
  const cpus = [...used]
    .sort((a, b) => a[1] - b[1] || a[0] - b[0])
    .slice(0, count)
    .map(([cpu]) => cpu);
  const add = (by: number): void => {
    for (const cpu of cpus) used.set(cpu, (used.get(cpu) ?? 0) + by);
  };
  add(1);
  return { cpus, release: () => add(-1) };
}

/** The cores we may use ourselves, by number; a container may leave out some. */
function allowedCpus(): number[] {
  const list = /^Cpus_allowed_list:\s+(\S+)/m.exec(readProcFile('/proc/self/status') ?? '')?.[1];
  if (list === undefined) return Array.from({ length: availableParallelism() }, (_, cpu) => cpu);
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}
