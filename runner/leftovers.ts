/** Ends what a runner left behind that could not clean up itself, and removes its run folders. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { killUntilGone, ofUsers, withMarker } from './processes.ts';
import { removeAll } from './remove.ts';
import { runFolder } from './run-folder.ts';

/** Names the runner of one folder, so that two runners on one host leave each other's apps alone. */
export async function markerOf(folder: string): Promise<string> {
  return createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')
    .slice(0, 16);
}

/** The users that own the working folders; only root gives a run a user of its own. */
async function usersOf(runs: string, keys: string[]): Promise<Set<number>> {
  const users = new Set<number>();
  for (const key of keys) {
    const owner = await lstat(runFolder(join(runs, key)).work).catch(() => undefined);
    if (owner !== undefined && owner.uid >= LOWEST_RUN_USER && process.getuid?.() === 0) users.add(owner.uid);
  }
  return users;
}

/** Below this lie the users of people and services; a run never has one of them. */
export const LOWEST_RUN_USER = 20_000;

/** Kills every process of these runs, to the last one. Returns the pids that would not go. */
export async function killRuns(marker: string, runs: string, keys: string[]): Promise<number[]> {
  const values = new Set(keys.map((key) => `${marker}/${key}`));
  const users = await usersOf(runs, keys);
  return await killUntilGone(() => [...withMarker((value) => values.has(value)), ...ofUsers(users)]);
}

/** Kills every process of every run of this folder and empties `runs/`. Returns how many runs had been left. */
export async function clearLeftovers(
  marker: string,
  runs: string,
): Promise<{ runs: number; unkillable: number[] }> {
  await mkdir(runs, { recursive: true, mode: 0o711 });
  const keys = await readdir(runs);
  const users = await usersOf(runs, keys);
  const ours = (value: string): boolean => value.startsWith(`${marker}/`);
  const unkillable = await killUntilGone(() => [...withMarker(ours), ...ofUsers(users)]);
  for (const key of keys) await removeAll(join(runs, key));
  return { runs: keys.length, unkillable };
}
