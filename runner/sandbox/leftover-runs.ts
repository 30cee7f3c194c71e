/** Kills the processes and removes the folders of runs whose runner or launcher died. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../filesystem/remove-tree.ts';
import { resolveRunFolder } from '../filesystem/run-folder.ts';
import { findProcessesByMarker, findProcessesByUsers, killUntilGone } from '../process/processes.ts';

/** Returns the marker of a runner's folder, so that two runners on one host do not kill each other's apps. */
export async function computeMarker(folder: string): Promise<string> {
  return createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')
    .slice(0, 16);
}

/** Returns the owners of the working folders; only root gives a run a user of its own. */
async function readRunUsers(runs: string, keys: string[]): Promise<Set<number>> {
  const users = new Set<number>();
  for (const key of keys) {
    const owner = await lstat(resolveRunFolder(join(runs, key)).work).catch(() => undefined);
    if (owner !== undefined && owner.uid >= MIN_RUN_USER_ID && process.getuid?.() === 0) users.add(owner.uid);
  }
  return users;
}

/** User ids below belong to people and services; a run never has one of them. */
export const MIN_RUN_USER_ID = 20_000;

/** Kills every process of these runs. Returns the ids of processes that survive. */
export async function killRuns(marker: string, runs: string, keys: string[]): Promise<number[]> {
  const values = new Set(keys.map((key) => `${marker}/${key}`));
  const users = await readRunUsers(runs, keys);
  return await killUntilGone(() => [
    ...findProcessesByMarker((value) => values.has(value)),
    ...findProcessesByUsers(users),
  ]);
}

/** Kills every process of every run of a folder and empties `runs/`. Returns the number of leftover runs. */
export async function clearLeftoverRuns(
  marker: string,
  runs: string,
): Promise<{ runs: number; unkillable: number[] }> {
  await mkdir(runs, { recursive: true, mode: 0o711 });
  const keys = await readdir(runs);
  const users = await readRunUsers(runs, keys);
  const isOwnMarker = (value: string): boolean => value.startsWith(`${marker}/`);
  const unkillable = await killUntilGone(() => [
    ...findProcessesByMarker(isOwnMarker),
    ...findProcessesByUsers(users),
  ]);
  for (const key of keys) await removeTree(join(runs, key));
  return { runs: keys.length, unkillable };
}
