/** Finds out, by mounting one, whether each run can have a file system of its own (filesystem/run-disks.ts). */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskTools } from '../filesystem/run-disks.ts';
import { MKFS_OPTIONS, MOUNT_OPTIONS } from '../filesystem/run-disks.ts';
import { findTool, runCommand } from '../process/command.ts';

/** By this name `consider` is asked whether runs get disks of their own. */
export const DISKS_FEATURE = 'disks';

export type DiskProbeResult = { tools: DiskTools } | { trouble: string };

/** What is found is mounted in a mount namespace of the trial's own, and gone with it. */
export async function probeDisks(folder: string): Promise<DiskProbeResult> {
  if (process.platform !== 'linux') return { trouble: 'loop devices are of Linux' };
  if (process.getuid?.() !== 0) return { trouble: 'only root can mount them' };
  const [unshare, mkfs, mount, umount] = ['unshare', 'mkfs.ext4', 'mount', 'umount'].map(findTool);
  const losetup = findTool('losetup');
  if (!unshare || !mkfs || !mount || !umount || !losetup)
    return { trouble: 'unshare, mkfs.ext4 (e2fsprogs), mount, umount or losetup is missing' };
  const place = join(folder, 'disks');
  const tools: DiskTools = { folder: place, unshare, mkfs, mount, umount, losetup };
  rmSync(place, { recursive: true, force: true });
  mkdirSync(join(place, 'trial'), { recursive: true, mode: 0o711 });
  const script = `set -e
    head -c 4194304 /dev/zero > "$1.image"
    "$2" ${MKFS_OPTIONS.join(' ')} "$1.image"
    "$3" -t ext4 -o ${MOUNT_OPTIONS} "$1.image" "$1"
    : > "$1/file"`;
  const { ok, error: trouble } = await runCommand(unshare, [
    ...['--mount', '--propagation', 'slave', '/bin/sh', '-c', script, 'sh'],
    ...[join(place, 'trial'), mkfs, mount],
  ]);
  rmSync(place, { recursive: true, force: true });
  return ok ? { tools } : { trouble };
}
