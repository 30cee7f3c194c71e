/** Selects the indicators that an experiment compares, and resolves the settings of each. Pure: worker threads load it. */
import { USUAL_OBJECTIVE } from '@switchyard/contract/applications/usual-objective.ts';
import type { Objective } from '@switchyard/contract/experiments/experiment-settings.ts';
import { listIndicatorNames } from '../../runs/results/indicators.ts';
import type { FamilyIndicator, Role } from '../statistics/comparison/pipeline.ts';
import { compareText, type Observation, toUsableNumber } from '../statistics/observations.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';

/** The maximum number of indicators that one comparison has. */
export const COMPARED_INDICATORS_MAX = 50;

const DEFAULT_MARGIN = { type: 'relative', value: 0.01 } as const;
const DEFAULT_TIE_TOLERANCE = 1e-9;

/** Equivalence margin of a flag: 1 of 100 inputs. A share of the control would vanish with a rare flag. */
const FLAG_MARGIN = { type: 'absolute', value: 0.01 } as const;

/** The default settings of an indicator. */
export const DEFAULT_INDICATOR = {
  value_type: 'number',
  direction: 'none',
  measure: 'auto',
  margin: DEFAULT_MARGIN,
  tie_tolerance: DEFAULT_TIE_TOLERANCE,
  shift: 0,
  largest_loss: null,
  failure_margin: null,
  failure_value: null,
} as const satisfies Omit<FamilyIndicator, 'indicator' | 'role'>;

/** Returns every name of the indicators that the settings mention. */
export function listNamedIndicators({ objectives, primary, guardrails }: ComparisonSettings): Set<string> {
  return nameAll([...Object.keys(objectives ?? {}), ...(primary ? [primary] : []), ...(guardrails ?? [])]);
}

/** Returns the indicators to compare, at most `max`, with a warning when there are more. */
export function selectIndicators(
  runs: readonly Observation[],
  settings: ComparisonSettings,
  max = COMPARED_INDICATORS_MAX,
): { indicators: FamilyIndicator[]; warnings: string[] } {
  const { names, flags } = listIndicators(runs, settings);
  return {
    indicators: resolveIndicators(names.slice(0, max), flags, settings),
    warnings: [
      ...(names.length > max
        ? [
            `Of ${names.length} indicators the first ${max} are compared; those that objectives names come first.`,
          ]
        : []),
      ...warnOfUnreported(runs, names, settings),
    ],
  };
}

/** Warns of objectives without an indicator, such as a misspelt one, once a run has succeeded. */
function warnOfUnreported(
  runs: readonly Observation[],
  names: readonly string[],
  { objectives }: ComparisonSettings,
): string[] {
  if (!runs.some(({ status }) => status === 'succeeded')) return [];
  return Object.keys(objectives ?? {})
    .filter((path) => !listIndicatorNames(path).some((name) => names.includes(name)))
    .map(
      (path) =>
        `No successful run has a number or a flag as ${path}, which objectives names: it has no verdict.`,
    );
}

/** Returns the runs with 1 and 0 for true and false in the flags among the indicators. */
export function replaceFlags<Run extends Observation>(
  runs: readonly Run[],
  indicators: readonly FamilyIndicator[],
): readonly Run[] {
  const flags = new Set(
    indicators.filter(({ value_type }) => value_type === 'flag').map(({ indicator }) => indicator),
  );
  if (flags.size === 0) return runs;
  return runs.map((run) => ({
    ...run,
    indicators: run.indicators.map(({ name, value }) =>
      typeof value === 'boolean' && flags.has(name) ? { name, value: value ? 1 : 0 } : { name, value },
    ),
  }));
}

/**
 * Lists the indicators with a number or a flag in any succeeded run, in this order: `result.value`, those that the settings
 * name, those below `result`, those below `run`, others. Indicators of equal rank are sorted by name. An indicator is a flag
 * when no run reports a number for it: beside numbers, a flag is no measurement.
 */
function listIndicators(
  runs: readonly Observation[],
  settings: ComparisonSettings,
): { names: string[]; flags: ReadonlySet<string> } {
  const named = listNamedIndicators(settings);
  const numbers = new Set<string>();
  const flags = new Set<string>();
  for (const { status, indicators } of runs)
    if (status === 'succeeded')
      for (const { name, value } of indicators)
        if (toUsableNumber(value) !== null) numbers.add(name);
        else if (typeof value === 'boolean') flags.add(name);
  for (const name of numbers) flags.delete(name);
  const computeRank = (name: string): number => {
    if (name === USUAL_OBJECTIVE) return 0;
    if (named.has(name)) return 1;
    return name.startsWith('result.') ? 2 : name.startsWith('run.') ? 3 : 4;
  };
  const names = [...numbers, ...flags].sort((a, b) => computeRank(a) - computeRank(b) || compareText(a, b));
  return { names, flags };
}

/** Returns the settings of each indicator. Without `primary`, every indicator with an objective is primary. */
function resolveIndicators(
  names: readonly string[],
  flags: ReadonlySet<string>,
  { objectives, primary, guardrails }: ComparisonSettings,
): FamilyIndicator[] {
  const byName = indexByName(objectives ?? {});
  const primaries = primary ? nameAll([primary]) : new Set(byName.keys());
  const guarded = nameAll(guardrails ?? []);
  return names.map((indicator) => {
    const role: Role = primaries.has(indicator) ? 'primary' : guarded.has(indicator) ? 'guardrail' : 'other';
    const objective = resolveObjective(byName.get(indicator));
    return { indicator, role, ...(flags.has(indicator) ? measureAsFlag(objective) : objective) };
  });
}

/** Compares the shares of true: a ratio of 0 and 1 has no meaning. */
function measureAsFlag(objective: ReturnType<typeof resolveObjective>): ReturnType<typeof resolveObjective> {
  const margin = objective.margin === DEFAULT_MARGIN ? FLAG_MARGIN : objective.margin;
  // A change of a flag is a share itself.
  const largest_loss = objective.largest_loss && { ...objective.largest_loss, type: 'absolute' as const };
  return { ...objective, value_type: 'flag', measure: 'absolute', shift: 0, margin, largest_loss };
}

/** Returns the settings of an indicator, with defaults. */
export function resolveObjective(
  objective: Objective | undefined,
): Omit<FamilyIndicator, 'indicator' | 'role'> {
  const settings = typeof objective === 'string' ? { direction: objective } : (objective ?? {});
  const { largest_loss, ...others } = settings;
  const values = Object.entries(others).filter(([, value]) => value !== null && value !== undefined);
  return {
    ...DEFAULT_INDICATOR,
    ...Object.fromEntries(values),
    largest_loss: largest_loss == null ? null : { type: 'relative', value: largest_loss },
  };
}

/** Indexes entries by every name that their indicator may have. An entry with exactly that name takes precedence. */
function indexByName<Entry>(entries: Readonly<Record<string, Entry>>): Map<string, Entry> {
  const byName = new Map(Object.entries(entries));
  for (const [path, entry] of Object.entries(entries))
    for (const name of listIndicatorNames(path)) if (!byName.has(name)) byName.set(name, entry);
  return byName;
}

function nameAll(paths: readonly string[]): Set<string> {
  return new Set(paths.flatMap((path) => [path, ...listIndicatorNames(path)]));
}
