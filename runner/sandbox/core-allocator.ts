/** Assigns cores to runs: the least used ones, so that runs with few cores spread over the host. */
import { availableParallelism } from 'node:os';
import { readProcFile } from '../process/processes.ts';

/** Cores of one run, by number. */
export interface CoreAssignment {
  cpus: number[];
  release(): void;
}

/** Counts the runs on each core that this process may use. */
export class CoreAllocator {
  readonly #runsByCpu = new Map<number, number>(readAllowedCpus().map((cpu) => [cpu, 0]));

  /** Returns the `count` least used cores, or all when there are fewer. The caller releases them. */
  assign(count: number): CoreAssignment {
    const cpus = [...this.#runsByCpu]
      .sort((a, b) => a[1] - b[1] || a[0] - b[0])
      .slice(0, count)
      .map(([cpu]) => cpu);
    const add = (runs: number): void => {
      for (const cpu of cpus) this.#runsByCpu.set(cpu, (this.#runsByCpu.get(cpu) ?? 0) + runs);
    };
    add(1);
    return { cpus, release: () => add(-1) };
  }
}

/** Returns the numbers of the cores that this process may use; a container may exclude some. */
function readAllowedCpus(): number[] {
  const list = /^Cpus_allowed_list:\s+(\S+)/m.exec(readProcFile('/proc/self/status') ?? '')?.[1];
  if (list === undefined) return Array.from({ length: availableParallelism() }, (_, cpu) => cpu);
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}
