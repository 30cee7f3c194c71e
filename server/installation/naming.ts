/** Says which setting is meant when what it names does not work. */
import { ConfigError } from '../config.ts';
import { FolderTakenError } from '../database/folder-lock.ts';
import { messageOf } from '../log.ts';

/** Throws ConfigError: `trouble` and the reason, or the sentence of an error that names its setting already. */
export async function naming<T>(trouble: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof FolderTakenError) throw new ConfigError(error.message);
    throw new ConfigError(`${trouble}: ${messageOf(error).replace(/\.$/, '')}.`);
  }
}
