/** Requirements of executables, and their response bodies. */
import {
  type Executable,
  type ExecutableOptions,
  Requirements,
} from '@switchyard/contract/applications/executables.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { memoizeByObject } from '../../platform/memoize.ts';
import type { ExecutablesTable } from './schema.ts';

/** Returns the requirements of the executable, parsed once for each row object. Callers share the result: do not change it. */
export const parseRequirements = memoizeByObject((row: Pick<ExecutablesTable, 'id' | 'requirements'>) =>
  parseRequirementsColumn(row),
);

const parseRequirementsColumn = parseColumn('executables', 'id', 'requirements', Requirements);

const collectOptionNames = memoizeByObject(
  (definitions: ExecutableOptions): ReadonlySet<string> =>
    new Set(definitions.items?.map((item) => item.name)),
);

/** Returns the names of the options that a manifest declares, collected once for each manifest. */
export function listOptionNames(definitions: ExecutableOptions | null | undefined): ReadonlySet<string> {
  return definitions ? collectOptionNames(definitions) : NO_NAMES;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Returns true when the definition hides the option from the role. */
function isHidden(item: { ui?: { hidden_from?: readonly Role[] | null } | null }, role: Role): boolean {
  return item.ui?.hidden_from?.includes(role) ?? false;
}

/** Returns the names of the options that the role may not see; empty without an executable. */
export function listHiddenOptions(
  executable: Pick<ExecutablesTable, 'id' | 'requirements'> | undefined,
  role: Role,
): ReadonlySet<string> {
  const items = executable ? (parseRequirements(executable).options?.items ?? []) : [];
  return new Set(items.filter((item) => isHidden(item, role)).map((item) => item.name));
}

/** Returns the names of the options that some role may not see. Text that every role reads must not contain them. */
export function listConfidentialOptions(executable: ExecutablesTable): ReadonlySet<string> {
  const items = parseRequirements(executable).options?.items ?? [];
  return new Set(items.filter((item) => (item.ui?.hidden_from?.length ?? 0) > 0).map((item) => item.name));
}

/** Formats the executable without the definitions of options that are hidden from the role. */
export function formatExecutable(row: ExecutablesTable, role: Role): Executable {
  const requirements = parseRequirements(row);
  const items = requirements.options?.items?.filter((item) => !isHidden(item, role));
  return {
    id: row.id,
    user_email: row.user_email,
    uploaded_at: formatRfc3339(row.uploaded_at),
    requirements: items ? { ...requirements, options: { ...requirements.options, items } } : requirements,
  };
}
