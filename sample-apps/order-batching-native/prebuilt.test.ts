import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const folder = import.meta.dirname;

describe('the prebuilt executables', () => {
  it.each(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])(
    '%s is small and of its platform',
    async (name) => {
      const path = join(folder, 'bin', name, 'main');
      expect((await stat(path)).size).toBeLessThan(150_000);
      const head = await readFile(path);
      // ELF says the machine at byte 18 (62 for x86-64, 183 for ARM64), Mach-O at byte 4 (0x01000007 and 0x0100000c).
      const machines: Record<string, [magic: number, machine: number]> = {
        'linux-x64': [0x464c457f, 62],
        'linux-arm64': [0x464c457f, 183],
        'darwin-x64': [0xfeedfacf, 0x01000007],
        'darwin-arm64': [0xfeedfacf, 0x0100000c],
      };
      const isElf = name.startsWith('linux');
      expect([head.readUInt32LE(0), isElf ? head.readUInt16LE(18) : head.readUInt32LE(4)]).toEqual(
        machines[name],
      );
    },
  );
});
