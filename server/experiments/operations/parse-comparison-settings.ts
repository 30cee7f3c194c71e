/** Validates the settings by which an experiment of any kind compares its sides. Pure. */
import type { ApplicationObjective } from '@switchyard/contract/applications/indicators.ts';
import type {
  ComparisonSettingsCreate,
  ObjectiveSettings,
  Objectives,
} from '@switchyard/contract/experiments/experiment-settings.ts';
import { METRIC_CHARS_MAX, METRICS_MAX } from '@switchyard/contract/limits.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import { DEFAULT_INDICATOR } from '../results/select-indicators.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';

/**
 * Returns the settings as the definition stores them. Without `objectives`, `objective` decides, that of the application; an empty
 * map stands for none. Throws a 400 that names the invalid field and its value.
 */
export function parseComparisonSettings(
  body: ComparisonSettingsCreate,
  objective: ApplicationObjective | null,
): ComparisonSettings {
  const given: Objectives = body.objectives ?? (objective ? { [objective.name]: objective.direction } : {});
  const names = Object.keys(given);
  const objectives = names.length > 0 ? given : null;
  if (names.length > METRICS_MAX)
    throw badRequest(`objectives has ${names.length} indicators; it may have at most ${METRICS_MAX}.`);
  for (const name of names) {
    if (name === '' || name.length > METRIC_CHARS_MAX)
      throw badRequest(
        `objectives has the indicator ${quoteValue(name)}; a name has 1 to ${METRIC_CHARS_MAX} characters.`,
      );
    const settings = objectives?.[name];
    if (typeof settings === 'object') validateObjective(`objectives.${name}`, settings);
  }
  const guardrails = body.guardrails ?? [];
  if (body.primary) requireDirection('primary', body.primary, given);
  for (const [index, name] of guardrails.entries())
    validateGuardrail(`guardrails.${index}`, name, guardrails.slice(0, index), { ...body, objectives });
  return {
    objectives,
    ...(body.primary ? { primary: body.primary } : {}),
    ...(guardrails.length > 0 ? { guardrails } : {}),
  };
}

function validateObjective(field: string, settings: ObjectiveSettings): void {
  const { measure, margin, shift, tie_tolerance, largest_loss } = settings;
  if (largest_loss === 0)
    throw badRequest(
      `${field}.largest_loss is 0; give the largest change of one input that can occur, such as 0.5 for 50 %, or leave it out.`,
    );
  const largest = margin ?? DEFAULT_INDICATOR.margin;
  // Differences above the margin would tie, so that unlike sides look equivalent.
  if (largest.type === 'relative' && tie_tolerance && tie_tolerance > largest.value)
    throw badRequest(
      `${field}.tie_tolerance is ${tie_tolerance}, above the margin of ${largest.value}${margin ? '' : ', the default'}; give a margin of at least ${tie_tolerance}, or a smaller tie_tolerance.`,
    );
  if (measure === 'relative' && margin?.type === 'absolute')
    throw badRequest(
      `${field}.margin.type is "absolute", but measure is "relative"; give a relative margin, or the measure "absolute".`,
    );
  if (measure === 'absolute' && shift)
    throw badRequest(
      `${field}.shift is ${shift}, but measure is "absolute"; a shift applies to ratios only, so leave one of them out.`,
    );
}

function validateGuardrail(
  field: string,
  name: string,
  earlier: readonly string[],
  { primary, objectives }: ComparisonSettingsCreate,
): void {
  if (name === primary)
    throw badRequest(`${field} is ${quoteValue(name)}, which is also primary; name it once.`);
  if (earlier.includes(name))
    throw badRequest(`${field} is ${quoteValue(name)}, which guardrails names already; name it once.`);
  requireDirection(field, name, objectives ?? {});
}

/** An indicator that decides, or that must not get worse, has a direction in which it improves. */
function requireDirection(
  field: string,
  name: string,
  objectives: NonNullable<ComparisonSettingsCreate['objectives']>,
): void {
  const objective = Object.hasOwn(objectives, name) ? objectives[name] : undefined;
  const direction = typeof objective === 'object' ? objective.direction : objective;
  if (direction !== 'minimize' && direction !== 'maximize')
    throw badRequest(
      `${field} is ${quoteValue(name)}, which has no direction; give objectives this indicator with minimize or maximize.`,
    );
}
