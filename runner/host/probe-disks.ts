/** Probes whether each run can have a file system of its own (filesystem/run-disks.ts). */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskTools } from '../filesystem/run-disks.ts';
import { MKFS_OPTIONS, MOUNT_OPTIONS } from '../filesystem/run-disks.ts';
import { type CommandResult, findTool, runCommand } from '../process/command.ts';
import { ProbeCache } from '../process/probe-cache.ts';

/** Name of the feature "a disk for each run" for the filter of probeHost. */
export const DISKS_FEATURE = 'disks';

/** Tools that make disks, or the reason why there are none. */
export type DiskProbeResult = { tools: DiskTools } | { reason: string };

/** By device of the folder. Failures are not cached: they may depend on the folder, or the loop devices were in use. */
const mountProbes = new ProbeCache<CommandResult>(({ ok }) => ok);

/** Mounts a disk in a temporary mount namespace. Returns the tools, or the reason why disks are unavailable. */
export async function probeDisks(folder: string): Promise<DiskProbeResult> {
  if (process.platform !== 'linux') return { reason: 'loop devices need Linux' };
  if (process.getuid?.() !== 0) return { reason: 'only root can mount them' };
  const [unshare, mkfs, mount, umount] = ['unshare', 'mkfs.ext4', 'mount', 'umount'].map(findTool);
  const losetup = findTool('losetup');
  if (!unshare || !mkfs || !mount || !umount || !losetup)
    return { reason: 'unshare, mkfs.ext4 (e2fsprogs), mount, umount or losetup is missing' };
  const disksFolder = join(folder, 'disks');
  const tools: DiskTools = { folder: disksFolder, unshare, mkfs, mount, umount, losetup };
  rmSync(disksFolder, { recursive: true, force: true });
  const device = `device ${statSync(folder).dev}`;
  const { ok, error } = await mountProbes.probeOnce(device, () => mountDisk(tools));
  return ok ? { tools } : { reason: error };
}

/** Makes a disk, mounts it in a mount namespace of its own, writes a file to it and removes it. */
async function mountDisk({ folder, unshare, mkfs, mount }: DiskTools): Promise<CommandResult> {
  const disk = join(folder, 'probe');
  mkdirSync(disk, { recursive: true, mode: 0o711 });
  const script = `set -e
    head -c 4194304 /dev/zero > "$1.image"
    "$2" ${MKFS_OPTIONS.join(' ')} "$1.image"
    "$3" -t ext4 -o ${MOUNT_OPTIONS} "$1.image" "$1"
    : > "$1/file"`;
  const result = await runCommand(unshare, [
    ...['--mount', '--propagation', 'slave', '/bin/sh', '-c', script, 'sh'],
    ...[disk, mkfs, mount],
  ]);
  rmSync(folder, { recursive: true, force: true });
  return result;
}
