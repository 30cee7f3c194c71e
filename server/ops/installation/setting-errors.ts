/** Adds the name of a setting to errors of the thing it names. */
import { FolderInUseError } from '@switchyard/worker/folder-lock.ts';
import { ConfigError } from '../../platform/config.ts';
import { errorMessage } from '../../platform/log.ts';

/**
 * Returns the result of the work. Turns its error into a ConfigError with `problem` and the reason, unless the error names
 * its setting already.
 */
export async function withSettingName<T>(problem: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof FolderInUseError) throw new ConfigError(error.message);
    const remedy = isPortInUse(error)
      ? ' Another program uses the port: set SWITCHYARD_PORT to a free one.'
      : '';
    throw new ConfigError(`${problem}: ${errorMessage(error).replace(/\.$/, '')}.${remedy}`);
  }
}

function isPortInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
