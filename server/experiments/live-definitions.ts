/**
 * What shadow and switchback tests are made of, as `experiments.definition` holds it, and the rules of their bodies. Pure.
 */
import type { ShadowTestCreate } from '@switchyard/contract/shadow-tests.ts';
import type { SwitchbackTestCreate } from '@switchyard/contract/switchback-tests.ts';
import { badRequest, shown } from '../http/problem.ts';
import { routedId, type ShadowRoute, type SwitchbackRoute } from '../runs/routes.ts';
import { type Objectives, refuseObjectives } from './objectives.ts';
import type { ExperimentsTable } from './schema.ts';
import { Generator } from './statistics/generator.ts';

const MINUTE_MS = 60_000;

/** Times are milliseconds since the epoch. */
export interface ShadowDefinition {
  baseline: string;
  candidates: string[];
  /** Runs of the baseline that are copied at most. */
  maximumRuns: number;
  /** When to begin to copy; null for the start of the test. */
  from: number | null;
  /** Runs made before it are copied; null for no end. */
  until: number | null;
  objectives: Objectives;
}

export interface SwitchbackDefinition {
  baseline: string;
  candidate: string;
  unitMinutes: number;
  /** The instance of each unit, in order. */
  units: string[];
  seed: string;
  /** When unit 0 begins; null in a draft whose plan begins when it is started. */
  start: number | null;
  objectives: Objectives;
}

export function shadowOf({ definition }: Pick<ExperimentsTable, 'definition'>): ShadowDefinition {
  return JSON.parse(definition) as ShadowDefinition;
}

export function switchbackOf({ definition }: Pick<ExperimentsTable, 'definition'>): SwitchbackDefinition {
  return JSON.parse(definition) as SwitchbackDefinition;
}

/** What the body asks for; throws the 400 that says what is wrong with it. Whether the instances exist is not known here. */
export function defineShadow(body: ShadowTestCreate, now: number): ShadowDefinition {
  const { baseline, candidates, field } = sidesOf(body);
  checkSides(baseline, candidates, field);
  refuseObjectives(body.objectives ?? {});
  const from = timeOf(body.start_events?.time);
  const until = timeOf(body.termination_events.time);
  if (until !== null && until <= now)
    throw badRequest(
      `termination_events.time is ${shown(body.termination_events.time)}, which is over; it must be in the future.`,
    );
  if (until !== null && from !== null && until <= from)
    throw badRequest(
      `termination_events.time is ${shown(body.termination_events.time)}; it must be after start_events.time, ${shown(body.start_events?.time)}.`,
    );
  return {
    baseline,
    candidates,
    maximumRuns: body.termination_events.maximum_runs,
    from,
    until,
    objectives: body.objectives ?? {},
  };
}

/** The same for a switchback test; `seed` is what the plan is drawn from. */
export function defineSwitchback(
  body: SwitchbackTestCreate,
  now: number,
  seed: string,
): SwitchbackDefinition {
  const { baseline_instance_id: baseline, candidate_instance_id: candidate } = body.comparison;
  checkSides(baseline, [candidate], 'comparison.candidate_instance_id');
  refuseObjectives(body.objectives ?? {});
  const { unit_duration_minutes, units, start: asked } = body.generate_random_plan;
  const start = timeOf(asked);
  if (start !== null && start < now)
    throw badRequest(
      `generate_random_plan.start is ${shown(asked)}, which is over; it must be in the future, or left out for a plan that begins when the test is started.`,
    );
  return {
    baseline,
    candidate,
    unitMinutes: unit_duration_minutes,
    units: drawUnits(seed, units, baseline, candidate),
    seed,
    start,
    objectives: body.objectives ?? {},
  };
}

/** Gives each unit to one of the two with equal chances, independently: a bit of the seeded generator for each. */
export function drawUnits(seed: string, units: number, baseline: string, candidate: string): string[] {
  const generator = new Generator(`plan ${seed}`);
  return Array.from({ length: units }, () => (generator.bits() >>> 31 === 0 ? baseline : candidate));
}

function sidesOf(body: ShadowTestCreate): { baseline: string; candidates: string[]; field: string } {
  const { comparison, comparisons } = body;
  if (comparison && comparisons)
    throw badRequest(
      'comparison and comparisons are both given; one of them says which instances are meant.',
    );
  if (comparison)
    return {
      baseline: comparison.baseline_instance_id,
      candidates: [comparison.candidate_instance_id],
      field: 'comparison.candidate_instance_id',
    };
  if (!comparisons)
    throw badRequest(
      'comparison is missing; it must name the baseline_instance_id and the candidate_instance_id.',
    );
  const [first, ...others] = Object.entries(comparisons);
  if (!first || others.length > 0)
    throw badRequest(
      `comparisons has ${Object.keys(comparisons).length} baselines; it must have one, with its candidates.`,
    );
  return { baseline: first[0], candidates: first[1], field: `comparisons.${first[0]}` };
}

/** `latest` and its older name are one instance. */
function checkSides(baseline: string, candidates: readonly string[], field: string): void {
  const seen = new Set([routedId(baseline)]);
  for (const candidate of candidates) {
    if (routedId(candidate) === routedId(baseline))
      throw badRequest(
        `${field} is ${shown(candidate)}, which is the baseline, too; it must be another instance.`,
      );
    if (seen.has(routedId(candidate)))
      throw badRequest(`${field} has ${shown(candidate)} twice; each candidate is named once.`);
    seen.add(routedId(candidate));
  }
}

/** The clients of the commercial service send the zero time of their language for none. */
const ZERO_TIME = Date.parse('0001-01-01T00:00:00Z');

function timeOf(text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null;
  const at = Date.parse(text);
  return at === ZERO_TIME ? null : at;
}

/** What a shadow test that starts now says of the runs of its baseline. */
export function shadowRoute({ from, until }: ShadowDefinition, now: number): ShadowRoute {
  return { kind: 'shadow', from: Math.max(now, from ?? now), until };
}

/** What a switchback test whose plan has a start says of them. */
export function switchbackRoute(definition: SwitchbackDefinition, start: number): SwitchbackRoute {
  return { kind: 'switchback', start, unitMs: unitMsOf(definition), units: definition.units };
}

/** Length of a unit in whole milliseconds, as clocks and tables have them. */
function unitMsOf({ unitMinutes }: SwitchbackDefinition): number {
  return Math.round(unitMinutes * MINUTE_MS);
}

/** When the last unit is over; null while it is not known when the first begins. */
export function planEnd(definition: SwitchbackDefinition): number | null {
  const { start, units } = definition;
  return start === null ? null : start + units.length * unitMsOf(definition);
}

/** How many units are over at the instant. */
export function unitsOver(definition: SwitchbackDefinition, at: number): number {
  const { start, units } = definition;
  if (start === null) return 0;
  return Math.max(0, Math.min(units.length, Math.floor((at - start) / unitMsOf(definition))));
}
