/** The steps of a plan: what clients, operators and the environment do at which time. Everything else follows from the seed. */
import type { Draws } from '../kernel/draws.ts';
import type { World } from '../world/world.ts';

/** A value of a step. */
export type StepValue = number | string | boolean;

/** One step, as plain data: a failing plan is printed and replayed. */
export interface Step {
  /** Identifies the step in the plan; later steps refer to it. */
  id: number;
  /** Milliseconds after the begin of the load. */
  at: number;
  /** The name of its kind. */
  do: string;
  [argument: string]: StepValue;
}

/** The earlier steps among which a step chooses the one it refers to. */
export interface PlanSoFar {
  /** Returns the id of an earlier step of one of the kinds; null without any. */
  pick(...kinds: string[]): number | null;
}

/** One kind of step. */
export interface StepKind {
  /** How often the kind is chosen, compared with the others. */
  weight: number;
  /** Returns the arguments of a new step; null when there is nothing to refer to. */
  draw(draws: Draws, plan: PlanSoFar): Record<string, StepValue> | null;
  /** Prepares the world before its server starts. */
  prepare?(world: World, step: Step): void;
  /** Does the step. Its promise may end much later than its begin. */
  run(world: World, step: Step): Promise<void> | void;
}

/** Defines kinds of steps by their names. */
export type StepKinds = Record<string, StepKind>;

/** Reads a number of a step. */
export const readNumber = (step: Step, name: string): number => Number(step[name]);

/** Reads a text of a step. */
export const readText = (step: Step, name: string): string => String(step[name]);
