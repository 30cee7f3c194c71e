/**
 * Options of instances that the executable of their version hides from a role: left out of what the role reads, and kept
 * when it sends back what it has read.
 */

import type { Role } from '@switchyard/contract/roles.ts';
import type { VersionId } from '@switchyard/contract/schemas/ids.ts';
import { listHiddenOptions } from '../applications/executable.ts';
import { findExecutables } from '../applications/executables-store.ts';
import type { Reader } from '../database/database.ts';
import { findExecutableIds } from '../versions/store.ts';
import type { RequestedConfiguration } from './rules.ts';

type Hidden = ReadonlySet<string>;

/** What the version of an instance says of it. */
export interface VersionInfo {
  /** Options that are hidden from the role. */
  hiddenOptions: Hidden;
  isDeleted: boolean;
}

/** By the version of an instance, what is hidden from the role, and whether the version was deleted. */
export async function lookUpVersions(
  db: Reader,
  applicationUid: string,
  versions: readonly VersionId[],
  role: Role,
): Promise<(version: VersionId) => VersionInfo> {
  const executables = await findExecutableIds(db, applicationUid, [...new Set(versions)]);
  const rows = await findExecutables(db, [...new Set(executables.values())]);
  const hidden = new Map(rows.map((row) => [row.id, listHiddenOptions(row, role)]));
  return (version) => {
    const executable = executables.get(version);
    return {
      hiddenOptions: (executable && hidden.get(executable)) ?? new Set(),
      isDeleted: executable === undefined,
    };
  };
}

/** The configuration without the options that are hidden. */
export function omitHiddenOptions(given: RequestedConfiguration, hidden: Hidden): RequestedConfiguration {
  if (!given.options || hidden.size === 0) return given;
  const shown = Object.entries(given.options).filter(([name]) => !hidden.has(name));
  return { ...given, options: Object.fromEntries(shown) };
}

/** The new configuration with the hidden options of the one before, which its sender could not send. */
export function restoreHiddenOptions(
  given: RequestedConfiguration,
  before: RequestedConfiguration,
  hidden: Hidden,
): RequestedConfiguration {
  const kept = Object.entries(before.options ?? {}).filter(([name]) => hidden.has(name));
  if (kept.length === 0) return given;
  return { ...given, options: { ...Object.fromEntries(kept), ...given.options } };
}
