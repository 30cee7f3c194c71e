/** The values of the form that experiments of several types have. */
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';
import { PRIORITY_MAX } from '@switchyard/contract/limits.ts';
import { type ExperimentDraft, formatEnsembleSide } from '../draft.ts';

/** Some values of the form. */
export type DraftValues = Partial<ExperimentDraft>;

const NAME_CHARS_MAX = 48;

/** Returns the name of the next experiment of this kind: `Cheaper 3` after `Cheaper 2`. */
export function nameNext(name: string): string {
  const [, base = name, count = '1'] = /^(.*?)(?: (\d{1,6}))?$/s.exec(name) ?? [];
  const next = ` ${Number(count) + 1}`;
  return `${base.slice(0, NAME_CHARS_MAX - next.length)}${next}`;
}

/** Returns the name of the next experiment, and the description. */
export function readNames({ name, description }: { name: string; description: string }): DraftValues {
  return { name: nameNext(name), description };
}

/** Returns a share in percent, without the rounding error of the product. */
export function toPercentText(share: number): string {
  return String(Number((share * 100).toPrecision(12)));
}

/** Returns a margin, tolerance or difference in the unit that the form shows. */
export function formatAmount({ type, value }: { type: string; value: number }) {
  const isAbsolute = type === 'absolute';
  return {
    type: isAbsolute ? ('absolute' as const) : ('relative' as const),
    text: isAbsolute ? String(value) : toPercentText(value),
  };
}

/** The fields of an experiment that compares indicators. */
interface ComparedExperiment {
  objectives?: Objectives | undefined;
  primary?: string | undefined;
  guardrails?: readonly string[] | undefined;
}

/** Returns the primary indicator with its settings, and the guardrails. */
export function readComparison({
  objectives = {},
  primary,
  guardrails = [],
}: ComparedExperiment): DraftValues {
  const indicator = primary ?? Object.keys(objectives)[0];
  if (indicator === undefined) return {};
  const objective = objectives[indicator] ?? 'none';
  const settings = typeof objective === 'string' ? { direction: objective } : objective;
  const margin = settings.margin && formatAmount(settings.margin);
  return {
    indicator,
    direction: settings.direction ?? 'none',
    ...(margin && { margin: margin.text, marginType: margin.type }),
    ...(settings.measure && { measure: settings.measure }),
    ...(settings.shift != null && { shift: String(settings.shift) }),
    ...(settings.tie_tolerance != null && { tieTolerance: toPercentText(settings.tie_tolerance) }),
    ...(settings.largest_loss != null && { largestLoss: toPercentText(settings.largest_loss) }),
    ...(settings.failure_margin != null && { failureMargin: toPercentText(settings.failure_margin) }),
    guardrails: guardrails.map((name) => {
      const guarded = objectives[name];
      const direction = typeof guarded === 'object' ? guarded.direction : guarded;
      return { indicator: name, direction: direction === 'maximize' ? 'maximize' : 'minimize' };
    }),
  };
}

/** Returns the settings that all runs share. */
export function readRunSettings({ priority, max_duration }: RunSettings): DraftValues {
  return {
    ...(priority !== undefined && priority !== PRIORITY_MAX && { priority: String(priority) }),
    ...(max_duration !== undefined && { maxDuration: String(max_duration) }),
  };
}

/** The settings that all runs of an experiment share. */
interface RunSettings {
  priority?: number | undefined;
  max_duration?: number | undefined;
}

/** Returns the side of the form that the group is. */
export const formatSide = (side: { instance_id: string; ensemble_id?: string | undefined }): string =>
  side.ensemble_id === undefined ? side.instance_id || 'latest' : formatEnsembleSide(side.ensemble_id);

/** Returns how often each side ran each input. Seeds are repetitions too, and the form ignores the number then. */
export function countPastRepetitions(runs: readonly { repetition: number | null }[]): number {
  return 1 + Math.max(0, ...runs.map(({ repetition }) => repetition ?? 0));
}
