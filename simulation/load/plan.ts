/** Draws plans: which kinds of steps a seed has, how often, and when. */
import { Draws } from '../kernel/draws.ts';
import { POSTGRES_STEPS } from '../postgres/fault-steps.ts';
import { ACCOUNT_STEPS } from './account-steps.ts';
import { APPLICATION_STEPS } from './application-steps.ts';
import { EXPERIMENT_STEPS } from './experiment-steps.ts';
import { FAULT_STEPS } from './fault-steps.ts';
import { addProfile, PROFILE_STEPS } from './profiles.ts';
import { RUN_STEPS } from './run-steps.ts';
import type { PlanSoFar, Step, StepKind, StepKinds } from './step.ts';

const LOAD_STEPS = { ...RUN_STEPS, ...ACCOUNT_STEPS, ...APPLICATION_STEPS, ...EXPERIMENT_STEPS };
/** Faults of the one server and its disk, which several servers on one database do not have. */
const DISK_STEPS = new Set(['killServer', 'cutPower', 'restartServer', 'pauseServer', 'moveClock']).union(
  new Set(['failSyncs', 'slowDisk', 'fullDisk']),
);

/** The kinds of steps of a database, by their names. */
export const STEPS_OF: Record<DatabaseKind, StepKinds> = {
  sqlite: { ...LOAD_STEPS, ...FAULT_STEPS, ...PROFILE_STEPS },
  postgres: {
    ...LOAD_STEPS,
    ...Object.fromEntries(Object.entries(FAULT_STEPS).filter(([name]) => !DISK_STEPS.has(name))),
    ...POSTGRES_STEPS,
  },
};

/** All kinds of steps by their names. */
export const STEP_KINDS: StepKinds = { ...STEPS_OF.sqlite, ...STEPS_OF.postgres };

/** One server on SQLite, or several on PostgreSQL. */
export type DatabaseKind = 'sqlite' | 'postgres';

/** The plan of one simulation. */
export interface Plan {
  seed: string;
  steps: Step[];
}

const FAULTS = new Set(Object.keys({ ...FAULT_STEPS, ...POSTGRES_STEPS }));
const EXPERIMENTS = new Set(Object.keys(EXPERIMENT_STEPS));

/** What the seeds of a kind have in their plans. Faults of one part meet each other more often than among all others. */
const PROFILES: ((step: string) => boolean)[] = [
  ...Array.from({ length: 5 }, () => () => true),
  // Nothing may fail.
  (step) => !FAULTS.has(step),
  (step) => !FAULTS.has(step) || /Power|killServer|AtAnswer|Disk|Syncs|Database|crash.*Server/.test(step),
  (step) => !FAULTS.has(step) || /Worker|Network/.test(step),
  (step) => /cancelRun|createRuns|Worker/.test(step),
  (step) => /Runs?$|License|Quota|Setting/.test(step) || /crash|Worker|kill/.test(step),
  (step) => EXPERIMENTS.has(step) || (FAULTS.has(step) && !/Network|Receivers|Client/.test(step)),
];

/** Faults that may last as long as the load: each message or delivery then meets them with the same probability. */
const LASTING = new Set(['badReceivers', 'badNetwork', 'failBlobs', 'slowDisk']);

const STEPS_MIN = 4;
const STEPS_MAX = 32;
/** Each second of several servers costs as much as a minute of one. */
const HORIZONS_MS: Record<DatabaseKind, number[]> = {
  sqlite: [300, 2000, 10_000, 10_000, 40_000, 40_000, 90_000, 90_000, 400_000],
  postgres: [5000, 10_000, 20_000, 40_000, 90_000],
};

/** Chooses the kinds of a seed: each is left out by half of the seeds, so that rare combinations are not drowned. */
function chooseKinds(draws: Draws, database: DatabaseKind): [string, StepKind, number][] {
  const has = draws.pick(PROFILES);
  return Object.entries(STEPS_OF[database])
    .filter(isOfEverySeed)
    .flatMap(([name, kind]): [string, StepKind, number][] => {
      const isChosen = draws.happens(0.5);
      const weight = kind.weight * draws.between(0.3, 2);
      // Almost nothing happens without runs.
      return name === 'createRun' || (isChosen && has(name)) ? [[name, kind, weight]] : [];
    });
}

const isOfEverySeed = ([name]: [string, StepKind]): boolean => !(name in PROFILE_STEPS);

function pickKind(kinds: [string, StepKind, number][], draws: Draws): [string, StepKind] {
  let rest = draws.share() * kinds.reduce((sum, [, , weight]) => sum + weight, 0);
  for (const [name, kind, weight] of kinds) {
    rest -= weight;
    if (rest <= 0) return [name, kind];
  }
  const [name, kind] = kinds[0] ?? [];
  if (name === undefined || kind === undefined) throw new Error('There are no kinds of steps.');
  return [name, kind];
}

/** Draws the plan of a seed. */
export function drawPlan(seed: string, database: DatabaseKind = 'sqlite'): Plan {
  const draws = new Draws(`${seed} plan`);
  const kinds = chooseKinds(draws, database);
  const count = STEPS_MIN + draws.below(STEPS_MAX - STEPS_MIN);
  const horizon = draws.pick(HORIZONS_MS[database]);
  const times = Array.from({ length: count }, () => Math.round(draws.share() * horizon)).sort(
    (a, b) => a - b,
  );
  const steps: Step[] = [];
  const soFar: PlanSoFar = {
    pick(...names) {
      const found = steps.filter((step) => names.includes(step.do));
      return found.length === 0 ? null : draws.pick(found).id;
    },
  };
  const lasting = kinds.filter(([name]) => LASTING.has(name));
  if (lasting.length > 0 && draws.happens(0.5)) {
    const [name, kind] = draws.pick(lasting);
    steps.push({ id: count + 1, at: 0, do: name, ...kind.draw(draws, soFar), forMs: horizon });
  }
  for (const [index, at] of times.entries()) {
    const [name, kind] = pickKind(kinds, draws);
    const values = kind.draw(draws, soFar);
    if (values) steps.push({ id: index + 1, at, do: name, ...values });
  }
  return { seed, steps: database === 'sqlite' ? addProfile(seed, steps) : steps };
}
