/** Checks the options of a run before it is stored: the names that the instance stores, and the rules of the manifest. */
import type { ExecutableOptions } from '@switchyard/contract/applications/executables.ts';
import { findDefinedOptionError } from '@switchyard/contract/applications/run-options.ts';
import type { OptionSummary } from '@switchyard/contract/runs/run-schemas.ts';
import { listOptionNames } from '../../apps/applications/executable.ts';
import { validateOptionNames } from '../../apps/instances/rules.ts';

/** Returns the error message for the first broken rule of the manifest, or null. It names no hidden option. */
export function findOptionRuleError(
  summary: readonly OptionSummary[],
  definitions: ExecutableOptions | null | undefined,
  hidden: ReadonlySet<string>,
): string | null {
  const stored = summary.filter(({ source }) => source === 'instance').map(({ name }) => name);
  const nameError = validateOptionNames(stored, 'The configuration of the instance', {
    names: listOptionNames(definitions),
    hiddenNames: hidden,
  });
  if (nameError) return nameError;
  return definitions ? findDefinedOptionError(summary, definitions, hidden) : null;
}
