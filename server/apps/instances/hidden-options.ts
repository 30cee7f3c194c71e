/**
 * Options of instances that the executable of their version hides from a role. Responses omit them, and an update by that
 * role, which cannot send them, restores them.
 */

import type { Role } from '@switchyard/contract/roles.ts';
import type { VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import { findHiddenOptions } from '../applications/executables-store.ts';
import { findExecutableIds } from '../versions/store.ts';
import type { RequestedConfiguration } from './rules.ts';

/** Facts about the version of an instance, for one role. */
export interface VersionInfo {
  /** Names of the options that the version hides from the role. */
  hiddenOptions: ReadonlySet<string>;
  isDeleted: boolean;
}

/** Returns a function from the id of a version to its facts for the role. */
export async function lookUpVersions(
  db: Reader,
  applicationUid: string,
  versions: readonly VersionId[],
  role: Role,
): Promise<(version: VersionId) => VersionInfo> {
  const executables = await findExecutableIds(db, applicationUid, [...new Set(versions)]);
  const listHidden = await findHiddenOptions(db, [...executables.values()], role);
  return (version) => {
    const executable = executables.get(version);
    return {
      hiddenOptions: executable === undefined ? new Set() : listHidden(executable),
      isDeleted: executable === undefined,
    };
  };
}

/** Returns the configuration without the hidden options. */
export function omitHiddenOptions(
  configuration: RequestedConfiguration,
  hidden: ReadonlySet<string>,
): RequestedConfiguration {
  if (!configuration.options || hidden.size === 0) return configuration;
  const visible = Object.entries(configuration.options).filter(([name]) => !hidden.has(name));
  return { ...configuration, options: Object.fromEntries(visible) };
}

/** Returns the updated configuration with the hidden options of the stored one. */
export function restoreHiddenOptions(
  updated: RequestedConfiguration,
  stored: RequestedConfiguration,
  hidden: ReadonlySet<string>,
): RequestedConfiguration {
  const restored = Object.entries(stored.options ?? {}).filter(([name]) => hidden.has(name));
  if (restored.length === 0) return updated;
  return { ...updated, options: { ...Object.fromEntries(restored), ...updated.options } };
}
