/**
 * Checks a folder that several machines share, usually on NFS. Blobs need durable files, renames that replace, folders that
 * support sync, and a clock close to the local one. The clean-up compares the times of files with the local time.
 */
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../config.ts';
import { errorMessage } from '../log.ts';
import { syncFolder } from './disk.ts';

/** Far less than the hour after which a blob without a row counts as orphaned. */
const CLOCK_SKEW_MAX_MS = 5 * 60 * 1000;

/** Throws ConfigError when a check fails. Does not create the folder, because that would hide a share that is not mounted. */
export async function checkSharedFolder(folder: string, owner: string, clock: Clock): Promise<void> {
  const refuse = (problem: string): never => {
    throw new ConfigError(`SWITCHYARD_BLOBS is "file://${folder}", ${problem}`);
  };
  const state = await stat(folder).catch(() => null);
  if (!state?.isDirectory())
    return refuse(
      'which is not a folder: mount the share, or create the folder on it, before the server starts.',
    );
  const probes = join(folder, 'incoming');
  const [first, second] = [join(probes, `.probe-${owner}-1`), join(probes, `.probe-${owner}-2`)];
  try {
    await mkdir(probes, { recursive: true });
    await writeSynced(second, 'before');
    await writeSynced(first, owner);
    await rename(first, second);
    await syncFolder(probes);
    if ((await readFile(second, 'utf8')) !== owner || (await stat(first).catch(() => null)) !== null)
      return refuse('where a rename does not replace a file immediately: use NFS version 4, or a bucket.');
    const skewMs = Math.abs((await stat(second)).mtimeMs - clock.now());
    if (skewMs > CLOCK_SKEW_MAX_MS)
      return refuse(
        `whose clock is ${Math.round(skewMs / 1000)} s apart from this machine's; at most ${CLOCK_SKEW_MAX_MS / 1000} s are allowed. Synchronise both clocks, for example with NTP.`,
      );
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    return refuse(
      `where files cannot be written, synced and renamed (${errorMessage(error)}): check the rights of the server's user and the options of the mount.`,
    );
  } finally {
    for (const path of [first, second]) await rm(path, { force: true }).catch(() => {});
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
