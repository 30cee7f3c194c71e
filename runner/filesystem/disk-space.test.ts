/** Checks hasDiskSpace on a disk that root has filled completely. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createScratchFolder, removeFolder } from '../testing/runner-harness.ts';

const folder = createScratchFolder();
afterAll(() => removeFolder(folder));

/** Uses a mount namespace of its own, so that the disk vanishes with the shell. */
function onDiskOf4KiBBlocks(script: string): { status: number | null; stdout: string; stderr: string } {
  const setUp =
    'cd "$0" && truncate -s 64M image && mkfs.ext4 -q -b 4096 image && mkdir -p disk && mount -o loop image disk';
  const printHasSpace = `import(process.argv[1]).then(({ hasDiskSpace }) => console.log(hasDiskSpace('disk')))`;
  return spawnSync(
    'unshare',
    [
      ...['--mount', 'sh', '-c', `{ ${setUp}; } || exit 77; ${script}`],
      ...[folder, process.execPath, printHasSpace, join(import.meta.dirname, 'disk-space.ts')],
    ],
    { encoding: 'utf8' },
  );
}

test('R2: a disk to which root cannot write has no space', (context) => {
  const printCommand = '"$1" -e "$2" "$3"';
  const { status, stdout } = onDiskOf4KiBBlocks(
    `${printCommand}; head -c 100M /dev/zero > disk/fill; ${printCommand}; head -c 5000 /dev/zero > disk/more || echo full`,
  );
  if (status === 77 || status === null || stdout === '') return context.skip('no file can be mounted here');
  expect(stdout).toBe('true\nfalse\nfull\n');
  execFileSync('rm', [join(folder, 'image')]);
});
