/**
 * Profiles: groups of steps around one peer or one part of the product. A seed has one of them or none, besides the steps that
 * every seed may have. They are drawn apart, so that a new profile leaves the other steps of a seed as they were.
 */
import { Draws } from '../kernel/draws.ts';
import { CLUSTER_STEPS } from './cluster-steps.ts';
import { IDENTITY_STEPS } from './identity-steps.ts';
import { NETWORK_STEPS } from './network-steps.ts';
import type { PlanSoFar, Step, StepKinds } from './step.ts';
import { STUDY_STEPS } from './study-steps.ts';

interface Profile {
  /** The kind of the step before the server starts; null without one. */
  first: string | null;
  kinds: StepKinds;
  horizonsMs: readonly number[];
  stepsMax: number;
}

const PROFILES: readonly Profile[] = [
  {
    first: 'useCluster',
    kinds: CLUSTER_STEPS,
    horizonsMs: [60_000, 300_000, 900_000],
    stepsMax: 30,
  },
  {
    first: 'useIdentityProvider',
    kinds: IDENTITY_STEPS,
    horizonsMs: [60_000, 300_000],
    stepsMax: 40,
  },
  { first: null, kinds: STUDY_STEPS, horizonsMs: [20_000, 60_000, 300_000], stepsMax: 40 },
  { first: null, kinds: NETWORK_STEPS, horizonsMs: [60_000, 600_000, 1_800_000], stepsMax: 40 },
];

/** Of the seeds, so many have one of the profiles. */
const SHARE = 0.6;
const STEPS_MIN = 4;

/** The kinds of steps of all profiles. */
export const PROFILE_STEPS: StepKinds = Object.assign({}, ...PROFILES.map(({ kinds }) => kinds));

/** Returns the steps of a seed: with those of its profile, if it has one, or only those of the profile. */
export function addProfile(seed: string, others: Step[]): Step[] {
  const draws = new Draws(`${seed} profile`);
  if (!draws.happens(SHARE)) return others;
  const firstId = Math.max(0, ...others.map(({ id }) => id)) + 1;
  const isAlone = draws.happens(0.5);
  const profile = draws.pick(PROFILES);
  const { first, kinds, horizonsMs, stepsMax } = profile;
  const names = Object.keys(kinds).filter((name) => (kinds[name]?.weight ?? 0) > 0 && draws.happens(0.7));
  const steps: Step[] = [];
  const soFar: PlanSoFar = {
    pick(...wanted) {
      const found = steps.filter((step) => wanted.includes(step.do));
      return found.length === 0 ? null : draws.pick(found).id;
    },
  };
  const add = (name: string, at: number): void => {
    const values = kinds[name]?.draw(draws, soFar);
    if (values) steps.push({ id: firstId + steps.length, at, do: name, ...values });
  };
  if (first !== null) add(first, 0);
  const horizon = draws.pick(horizonsMs);
  const count = STEPS_MIN + draws.below(stepsMax - STEPS_MIN);
  const times = Array.from({ length: count }, () => Math.round(draws.share() * horizon)).sort(
    (a, b) => a - b,
  );
  const total = names.reduce((sum, name) => sum + (kinds[name]?.weight ?? 0), 0);
  for (const at of times) {
    let rest = draws.share() * total;
    const name = names.find((one) => {
      rest -= kinds[one]?.weight ?? 0;
      return rest <= 0;
    });
    if (name !== undefined) add(name, at);
  }
  return [...(isAlone ? [] : others), ...steps].sort((one, other) => one.at - other.at);
}
