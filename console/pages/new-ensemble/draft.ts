/** The form of a new ensemble, and the request that it becomes. */
import type { CallArguments } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';

type CreateRequest = CallArguments<Operations['createEnsemble']>[0];

/** A group of runs, as a person entered it. */
export interface GroupDraft {
  id: string;
  instance: string;
  repetitions: string;
  /** A line `name=value` for each option. */
  options: string;
}

/** A rule, as a person entered it. */
export interface RuleDraft {
  indicator: string;
  objective: 'minimize' | 'maximize';
  /** A number, or empty for equal values only. */
  tolerance: string;
  toleranceType: 'relative' | 'absolute';
}

/** The values of the form. */
export interface EnsembleDraft {
  id: string;
  name: string;
  description: string;
  groups: readonly GroupDraft[];
  rules: readonly RuleDraft[];
}

/** Returns a group that follows those of the list; its id counts them. */
export function createGroup(instance: string, count: number): GroupDraft {
  return { id: `group-${count + 1}`, instance, repetitions: '1', options: '' };
}

/** Returns a rule that minimises the objective. */
export function createRule(): RuleDraft {
  return { indicator: 'result.value', objective: 'minimize', tolerance: '', toleranceType: 'relative' };
}

/** Returns the options of the lines. Throws for a line without an equals sign. */
export function parseOptions(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      if (at < 1) throw new Error(`The option "${line.trim()}" has no value. Write name=value.`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** Returns the request of the form, or the error of an option that cannot be read. The server checks the rest. */
export function buildEnsembleRequest(draft: EnsembleDraft): CreateRequest['body'] {
  return {
    id: draft.id.trim() || suggestId(draft.name),
    name: draft.name.trim(),
    ...(draft.description.trim() && { description: draft.description.trim() }),
    run_groups: draft.groups.map((group) => ({
      id: group.id.trim(),
      instance_id: group.instance,
      repetitions: Number(group.repetitions),
      ...(group.options.trim() && { options: parseOptions(group.options) }),
    })),
    rules: draft.rules.map((rule, index) => ({
      id: `rule-${index + 1}`,
      statistics_path: rule.indicator.trim(),
      objective: rule.objective,
      index,
      ...(rule.tolerance.trim() && { tolerance: buildTolerance(rule) }),
    })),
  };
}

/** The form shows a relative tolerance in percent, the API as a share. */
function buildTolerance({ tolerance, toleranceType }: RuleDraft) {
  const value = Number(tolerance);
  return { type: toleranceType, value: toleranceType === 'relative' ? value / 100 : value };
}
