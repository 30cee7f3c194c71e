/** An executable as the API shows it. */
import type {
  Executable,
  ExecutableOptions,
  Requirements,
} from '@switchyard/contract/applications/executables.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { formatRfc3339 } from '../clock.ts';
import type { ExecutablesTable } from './schema.ts';

const parsed = new WeakMap<ExecutablesTable, Requirements>();

/** Parsed once per row that is held; nobody may change what it answers. */
export function parseRequirements(row: ExecutablesTable): Requirements {
  let requirements = parsed.get(row);
  if (!requirements) {
    requirements = JSON.parse(row.requirements) as Requirements;
    parsed.set(row, requirements);
  }
  return requirements;
}

const declaredNames = new WeakMap<ExecutableOptions, ReadonlySet<string>>();

/** Names of the options that a manifest declares, collected once for each manifest. */
export function listOptionNames(definitions: ExecutableOptions | null | undefined): ReadonlySet<string> {
  if (!definitions) return NO_NAMES;
  let names = declaredNames.get(definitions);
  if (!names) {
    names = new Set(definitions.items?.map((item) => item.name));
    declaredNames.set(definitions, names);
  }
  return names;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Whether the definition hides the option from the role. */
function isHidden(item: { ui?: { hidden_from?: readonly Role[] | null } | null }, role: Role): boolean {
  return item.ui?.hidden_from?.includes(role) ?? false;
}

/** Names of options that the role may not see; none where there is no executable. */
export function listHiddenOptions(executable: ExecutablesTable | undefined, role: Role): ReadonlySet<string> {
  const items = executable ? (parseRequirements(executable).options?.items ?? []) : [];
  return new Set(items.filter((item) => isHidden(item, role)).map((item) => item.name));
}

/** Names of options that some role may not see: what is kept for every role to read must not name them. */
export function listConfidentialOptions(executable: ExecutablesTable): ReadonlySet<string> {
  const items = parseRequirements(executable).options?.items ?? [];
  return new Set(items.filter((item) => (item.ui?.hidden_from?.length ?? 0) > 0).map((item) => item.name));
}

/** The body of an executable; definitions of options that are hidden from the role are left out. */
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
