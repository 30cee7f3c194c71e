/** The settings of the worker of a process: slots and resources, which server/platform/config.ts passes. */
import { availableParallelism, tmpdir } from 'node:os';
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { type Allocation, readAllocation, readGroupLimits, readMachine } from '@switchyard/runner';
import type { Capacity } from '@switchyard/worker/execute/slots.ts';
import { ConfigError } from '../config-error.ts';
import type { Environment } from './read-setting.ts';

/**
 * Parses `4` as four shared slots, and `6c9500mb870s=4,8c16gb12h=1` as slots of classes. `0` is for a server whose runs remote
 * workers execute.
 */
export function readCapacity(env: Environment): Capacity {
  const text = env.SWITCHYARD_CAPACITY;
  const capacity: Capacity = { shared: availableParallelism(), perClass: {} };
  if (!text) return capacity;
  const seen = new Set<string>();
  for (const part of text.split(',')) {
    const match = /^\s*(?:([a-z0-9]+)\s*=\s*)?(\d{1,6})\s*$/.exec(part);
    const name = match?.[1];
    const known = EXECUTION_CLASSES.find((one) => one === name);
    if (!match || (name !== undefined && known === undefined)) {
      throw new ConfigError(
        `SWITCHYARD_CAPACITY has "${part.trim()}"; it must be a number of slots, or class=slots with a class of ${EXECUTION_CLASSES.join(', ')}.`,
      );
    }
    const target = known ?? 'shared';
    if (seen.has(target)) {
      throw new ConfigError(
        `SWITCHYARD_CAPACITY is "${text}", which sets the ${known ? `slots of the class ${known}` : 'shared slots'} twice. Set them once.`,
      );
    }
    seen.add(target);
    if (known) capacity.perClass[known] = Number(match[2]);
    else capacity.shared = Number(match[2]);
  }
  return capacity;
}

/** Returns the allocation of this process, which its worker offers; null for a worker that counts slots alone. */
export function readResources(env: Environment): Allocation | null {
  const value = env.SWITCHYARD_RESOURCES;
  if (!value) return null;
  if (value !== 'allocation')
    throw new ConfigError(
      `SWITCHYARD_RESOURCES is "${value}"; it must be allocation, or absent for a worker that counts slots alone.`,
    );
  return readAllocation(env, readGroupLimits(), readMachine(tmpdir()));
}
