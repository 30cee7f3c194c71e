/** Says which setting is meant when what it names does not work. */
import { ConfigError } from '../config.ts';
import { FolderInUseError } from '../database/folder-lock.ts';
import { errorMessage } from '../log.ts';

/** Throws ConfigError: `trouble` and the reason, or the sentence of an error that names its setting already. */
export async function withSettingName<T>(trouble: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof FolderInUseError) throw new ConfigError(error.message);
    throw new ConfigError(`${trouble}: ${errorMessage(error).replace(/\.$/, '')}.`);
  }
}
