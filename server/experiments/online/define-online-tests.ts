/** Validates the bodies that create shadow and switchback tests, and builds their definitions. Pure. */
import type { ApplicationObjective } from '@switchyard/contract/applications/indicators.ts';
import type { ShadowTestCreate } from '@switchyard/contract/experiments/shadow-tests.ts';
import type { SwitchbackTestCreate } from '@switchyard/contract/experiments/switchback-tests.ts';
import { SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import { normalizeInstanceId } from '../../runs/store/routes.ts';
import { checkClusterings } from '../input-properties/property-sources.ts';
import { parseComparisonSettings } from '../operations/parse-comparison-settings.ts';
import { describeMissingVerdict } from '../results/plan-warnings.ts';
import { canPlanDecide, drawPlan, findUnitsForVerdict } from '../statistics/switchback/plan-units.ts';
import {
  DEFAULT_CLUSTERINGS,
  type ShadowDefinition,
  type SwitchbackDefinition,
} from '../store/online-test-definitions.ts';

/** Returns the requested definition. Throws a 400 for an invalid body; does not check that the instances exist. */
export function defineShadowTest(
  body: ShadowTestCreate,
  objective: ApplicationObjective | null,
  now: number,
): ShadowDefinition {
  const { baseline, candidates, field } = parseSides(body);
  checkSides(baseline, candidates, field);
  const settings = parseComparisonSettings(body, objective);
  const from = parseTime(body.start_events?.time);
  const until = parseTime(body.termination_events.time);
  if (until !== null && until <= now)
    throw badRequest(
      `termination_events.time is ${quoteValue(body.termination_events.time)}, which is in the past; give a time in the future.`,
    );
  if (until !== null && from !== null && until <= from)
    throw badRequest(
      `termination_events.time is ${quoteValue(body.termination_events.time)}; it must be after start_events.time, ${quoteValue(body.start_events?.time)}.`,
    );
  return {
    baseline,
    candidates,
    maximumRuns: body.termination_events.maximum_runs,
    from,
    until,
    sampleShare: body.sample_share ?? 1,
    clusterBy: parseClusterings(body),
    ...settings,
  };
}

function parseClusterings({ cluster_by }: ShadowTestCreate): string[] {
  const names = cluster_by ?? DEFAULT_CLUSTERINGS;
  checkClusterings(names);
  return [...new Set(names)];
}

/** Returns the requested definition with a plan drawn from `seed`. Throws a 400 for an invalid body, as for a shadow test. */
export function defineSwitchbackTest(
  body: SwitchbackTestCreate,
  objective: ApplicationObjective | null,
  now: number,
  seed: string,
): SwitchbackDefinition {
  const { baseline_instance_id: baseline, candidate_instance_id: candidate } = body.comparison;
  checkSides(baseline, [candidate], 'comparison.candidate_instance_id');
  const settings = parseComparisonSettings(body, objective);
  rejectPairedSettings(body);
  const { unit_duration_minutes: unitMinutes, units, start: requestedStart } = body.generate_random_plan;
  const start = parseTime(requestedStart);
  if (start !== null && start < now)
    throw badRequest(
      `generate_random_plan.start is ${quoteValue(requestedStart)}, which is in the past; give a time in the future, or leave it out for a plan that begins with the start of the test.`,
    );
  const { kind, carryOverUnits, burnInMinutes } = parseDesign(body);
  const design = { kind, carryOverUnits, unitMinutes };
  const plan = drawPlan({ ...design, units }, seed);
  const needed = canPlanDecide({ ...design, units }, plan)
    ? {}
    : { unitsForVerdict: findUnitsForVerdict(design, SWITCHBACK_UNITS_MAX) };
  const definition = {
    baseline,
    candidate,
    unitMinutes,
    units: Array.from(plan, (side) => (side === 1 ? candidate : baseline)),
    design: { kind, carryOverUnits },
    burnInMinutes,
    seed,
    start,
    ...settings,
    ...needed,
  };
  refuseWithoutVerdict(body, definition);
  return definition;
}

/**
 * Throws a 400 for the value of failed runs, because a unit has the mean of its runs, so that one failure would decide it.
 * Throws one for a bound of the change of one input too: units are no pairs.
 */
function rejectPairedSettings({ objectives }: SwitchbackTestCreate): void {
  for (const [name, objective] of Object.entries(objectives ?? {})) {
    if (typeof objective !== 'object') continue;
    if (typeof objective.largest_loss === 'number')
      throw badRequest(
        `objectives.${name}.largest_loss is ${objective.largest_loss}, but a switchback test does not compare inputs one by one; leave it out.`,
      );
    if (typeof objective.failure_value === 'number')
      throw badRequest(
        `objectives.${name}.failure_value is ${objective.failure_value}, but a switchback test compares failures by themselves; leave it out.`,
      );
  }
}

function parseDesign({ generate_random_plan: plan }: SwitchbackTestCreate) {
  const burnInMinutes = plan.burn_in_minutes ?? 0;
  if (burnInMinutes >= plan.unit_duration_minutes)
    throw badRequest(
      `generate_random_plan.burn_in_minutes is ${burnInMinutes}; it must be less than unit_duration_minutes, ${plan.unit_duration_minutes}, because runs that arrive later count.`,
    );
  return { kind: plan.design ?? 'blocked', carryOverUnits: plan.carry_over_units ?? 1, burnInMinutes };
}

/**
 * Throws a 400 for a plan that cannot give a verdict, if the request has a setting that the specification has not. A client
 * of the specification gets a warning, because the specification allows such a plan.
 */
function refuseWithoutVerdict(body: SwitchbackTestCreate, definition: SwitchbackDefinition): void {
  const reason = describeMissingVerdict(definition);
  const setting = findNewSetting(body);
  if (reason !== null && setting !== null)
    throw badRequest(
      `${setting} is given, but a plan of ${formatCount(definition.units.length, 'unit')} can never give a verdict. ${reason}`,
    );
}

/** Returns the first field of the request that the specification has not; null for none. */
function findNewSetting({ generate_random_plan: plan, ...body }: SwitchbackTestCreate): string | null {
  const settings = {
    'generate_random_plan.design': plan.design,
    'generate_random_plan.carry_over_units': plan.carry_over_units,
    'generate_random_plan.burn_in_minutes': plan.burn_in_minutes,
    primary: body.primary,
    guardrails: body.guardrails,
    ...Object.fromEntries(
      Object.entries(body.objectives ?? {}).map(([name, objective]) => [
        `objectives.${name}`,
        typeof objective === 'object' ? objective : null,
      ]),
    ),
  };
  const found = Object.entries(settings).find(([, value]) => value !== undefined && value !== null);
  return found?.[0] ?? null;
}

/** Returns the instances of a shadow test, and the field that names the candidates. */
function parseSides(body: ShadowTestCreate): { baseline: string; candidates: string[]; field: string } {
  const { comparison, comparisons } = body;
  if (comparison && comparisons)
    throw badRequest('comparison and comparisons are both given; leave one of them out.');
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

/** Throws a 400 for an instance named twice. `latest` and its older id are one instance. */
function checkSides(baseline: string, candidates: readonly string[], field: string): void {
  const seen = new Set([normalizeInstanceId(baseline)]);
  for (const candidate of candidates) {
    if (normalizeInstanceId(candidate) === normalizeInstanceId(baseline))
      throw badRequest(
        `${field} is ${quoteValue(candidate)}, which is also the baseline; name another instance.`,
      );
    if (seen.has(normalizeInstanceId(candidate)))
      throw badRequest(`${field} has ${quoteValue(candidate)} twice; name each candidate once.`);
    seen.add(normalizeInstanceId(candidate));
  }
}

/** Clients written in Go send the zero time of their language for a missing time. */
const ZERO_TIME = Date.parse('0001-01-01T00:00:00Z');

function parseTime(text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null;
  const at = Date.parse(text);
  return at === ZERO_TIME ? null : at;
}
