/** Validates the bodies that create shadow and switchback tests, and builds their definitions. Pure. */
import type { ShadowTestCreate } from '@switchyard/contract/experiments/shadow-tests.ts';
import type { SwitchbackTestCreate } from '@switchyard/contract/experiments/switchback-tests.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import { normalizeInstanceId } from '../../runs/store/routes.ts';
import { parseComparisonSettings } from '../operations/parse-comparison-settings.ts';
import { RandomGenerator } from '../statistics/random-generator.ts';
import {
  DEFAULT_CLUSTERINGS,
  type ShadowDefinition,
  type SwitchbackDefinition,
} from '../store/online-test-definitions.ts';

/** Returns the requested definition. Throws a 400 for an invalid body; does not check that the instances exist. */
export function defineShadowTest(body: ShadowTestCreate, now: number): ShadowDefinition {
  const { baseline, candidates, field } = parseSides(body);
  checkSides(baseline, candidates, field);
  const settings = parseComparisonSettings(body);
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
    clusterBy: [...new Set(body.cluster_by ?? DEFAULT_CLUSTERINGS)],
    ...settings,
  };
}

/** Returns the requested definition with a plan drawn from `seed`. Throws a 400 for an invalid body, as for a shadow test. */
export function defineSwitchbackTest(
  body: SwitchbackTestCreate,
  now: number,
  seed: string,
): SwitchbackDefinition {
  const { baseline_instance_id: baseline, candidate_instance_id: candidate } = body.comparison;
  checkSides(baseline, [candidate], 'comparison.candidate_instance_id');
  const settings = parseComparisonSettings(body);
  const { unit_duration_minutes, units, start: requestedStart } = body.generate_random_plan;
  const start = parseTime(requestedStart);
  if (start !== null && start < now)
    throw badRequest(
      `generate_random_plan.start is ${quoteValue(requestedStart)}, which is in the past; give a time in the future, or leave it out for a plan that begins with the start of the test.`,
    );
  return {
    baseline,
    candidate,
    unitMinutes: unit_duration_minutes,
    units: drawUnits(seed, units, baseline, candidate),
    seed,
    start,
    ...settings,
  };
}

/** Draws an instance for each unit, independently and with equal chances: one bit of the seeded generator for each unit. */
export function drawUnits(seed: string, units: number, baseline: string, candidate: string): string[] {
  const generator = new RandomGenerator(`plan ${seed}`);
  return Array.from({ length: units }, () => (generator.bits() >>> 31 === 0 ? baseline : candidate));
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
