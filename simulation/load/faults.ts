/** Faults that last for a time, in both worlds. */
import type { Draws } from '../kernel/draws.ts';
import type { World } from '../world/world.ts';
import { readNumber, readText, type Step } from './step.ts';

export const HOUR_MS = 3_600_000;

/** Draws how long a fault lasts: mostly seconds, sometimes minutes. */
export const drawTime = (draws: Draws, maxMs: number): number =>
  draws.happens(0.7) ? 200 + draws.below(8000) : draws.below(maxMs);

/** Begins a fault now and ends it after the time of the step. */
export function during(world: World, step: Step, begin: () => void, end: () => void): void {
  world.countFault(step.do);
  begin();
  world.scheduler.after(readNumber(step, 'forMs'), '', end);
}

/** Cuts the sender off the network for the time of the step. */
export function cutOff(world: World, step: Step, sender: string | undefined): void {
  if (sender === undefined) return;
  during(
    world,
    step,
    () => world.network.cutOff(sender),
    () => world.network.reconnect(sender),
  );
}

/** Returns the probability of the fault that the step names. */
export const readFault = (step: Step): Record<string, number> => ({
  [readText(step, 'fault')]: readNumber(step, 'percent') / 100,
});
