/**
 * Cgroup v2, where we may make groups with controllers: memory, cpu time and processes are then held by the kernel.
 * Most hosts do not let an ordinary process do so; then nothing of this is used.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LaunchPlan } from './protocol.ts';

export interface CgroupHome {
  folder: string;
  controllers: string[];
}

const WANTED = ['memory', 'cpu', 'pids'];
const CPU_PERIOD_US = 100_000;

/** Tries our own group and the one above it; undefined when neither lets us make children that hold memory. */
export function findCgroupHome(): CgroupHome | undefined {
  let own: string;
  try {
    const line = readFileSync('/proc/self/cgroup', 'utf8')
      .split('\n')
      .find((text) => text.startsWith('0::'));
    if (line === undefined || !existsSync('/sys/fs/cgroup/cgroup.controllers')) return undefined;
    own = join('/sys/fs/cgroup', line.slice(3));
  } catch {
    return undefined;
  }
  for (const parent of [own, dirname(own)]) {
    if (!parent.startsWith('/sys/fs/cgroup')) continue;
    const folder = join(parent, `switchyard-${process.pid}`);
    try {
      for (const name of WANTED) allowBelow(parent, name);
      mkdirSync(folder);
      for (const name of WANTED) allowBelow(folder, name);
      const probe = join(folder, 'probe');
      mkdirSync(probe);
      const controllers = WANTED.filter((name) => existsSync(join(probe, KNOB[name] ?? '')));
      rmdirSync(probe);
      if (controllers.includes('memory')) return { folder, controllers };
      rmdirSync(folder);
    } catch {
      // Not ours to use.
    }
  }
  return undefined;
}

const KNOB: Record<string, string> = { memory: 'memory.max', cpu: 'cpu.max', pids: 'pids.max' };

function allowBelow(folder: string, controller: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.subtree_control'), `+${controller}`);
  } catch {
    // It may be on already, or not on offer; what counts is whether a child has it.
  }
}

/** Makes the group of one run with its limits set; the run's first process joins it by itself. */
export function makeCgroup(home: CgroupHome, { key, limits }: LaunchPlan): string {
  const folder = join(home.folder, key);
  mkdirSync(folder);
  const set = (name: string, value: string): void => {
    if (existsSync(join(folder, name))) writeFileSync(join(folder, name), value);
  };
  set('memory.max', String(limits.memoryBytes));
  set('memory.swap.max', '0');
  set('memory.oom.group', '1');
  set('pids.max', String(limits.processes + 4));
  set('cpu.max', `${Math.round(limits.cores * CPU_PERIOD_US)} ${CPU_PERIOD_US}`);
  return folder;
}

/** How often the kernel killed the group for its memory. */
export function memoryKills(folder: string): number {
  try {
    const text = readFileSync(join(folder, 'memory.events'), 'utf8');
    return Number(/^oom_kill ([0-9]+)/m.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Kills whatever is left in the group, then removes it. */
export function removeCgroup(folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1');
  } catch {
    // Older kernels lack it; the run's processes are dead by now anyway.
  }
  try {
    rmdirSync(folder);
  } catch {
    // Still busy for a moment; an empty group costs nothing and goes with the home folder.
  }
}
