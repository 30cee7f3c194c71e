/** The folders that the system has for the files of programs. */
import { homedir } from 'node:os';
import { extname, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration folder: `SWITCHYARD_CONFIG`, or the one that the system has for programs. */
export function findConfigFolder(env: Environment, platform: string = process.platform): string {
  if (env.SWITCHYARD_CONFIG) return env.SWITCHYARD_CONFIG;
  const home = env.HOME || homedir();
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'switchyard');
  if (platform === 'darwin' && !env.XDG_CONFIG_HOME)
    return join(home, 'Library', 'Application Support', 'switchyard');
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'switchyard');
}

/** The folder for what programs have begun: `SWITCHYARD_CONFIG`, or the one that the system has for the state of programs. */
export function findStateFolder(env: Environment, platform: string = process.platform): string {
  if (env.SWITCHYARD_CONFIG) return env.SWITCHYARD_CONFIG;
  const home = env.HOME || homedir();
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'switchyard');
  if (platform === 'darwin' && !env.XDG_STATE_HOME) return findConfigFolder(env, platform);
  return join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'switchyard');
}

/** The folder for files that can be fetched again: `.cache` of a clone of the repository, or that of the user. */
export function findCacheFolder(env: Environment = process.env, platform: string = process.platform): string {
  if (extname(import.meta.filename) === '.ts') return join(import.meta.dirname, '..', '..', '.cache');
  const home = env.HOME || homedir();
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'switchyard');
  if (platform === 'darwin' && !env.XDG_CACHE_HOME) return join(home, 'Library', 'Caches', 'switchyard');
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'switchyard');
}
