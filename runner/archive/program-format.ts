/** Detects the system and processor that a compiled file is built for. */

/** Platform of a compiled file. */
export interface ProgramFormat {
  platform: 'linux' | 'darwin';
  /** As Node names it; `universal` for a Mach-O file for several processors. */
  architecture: string;
}

/** Number of bytes that detectProgramFormat needs. */
export const FORMAT_HEAD_BYTES = 20;

/** ELF header, `e_machine`. */
const ELF_MACHINES: Record<number, string> = {
  3: 'ia32',
  40: 'arm',
  62: 'x64',
  183: 'arm64',
  243: 'riscv64',
};
/** Mach-O header, `cputype`. */
const MACH_MACHINES: Record<number, string> = { 16777223: 'x64', 16777228: 'arm64' };
const ELF = 0x7f454c46;
const MACH_O_64 = 0xcffaedfe;
/** A Mach-O file for several processors has the magic number of a Java class, whose version exceeds any processor count. */
const MACH_O_UNIVERSAL = 0xcafebabe;
const MAX_PROCESSORS = 20;

/** Returns the format of a compiled program or library; undefined for any other file. */
export function detectProgramFormat(head: Buffer): ProgramFormat | undefined {
  if (head.length < FORMAT_HEAD_BYTES) return undefined;
  const magic = head.readUInt32BE(0);
  if (magic === ELF) {
    const machine = head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18);
    return { platform: 'linux', architecture: ELF_MACHINES[machine] ?? `machine ${machine}` };
  }
  if (magic === MACH_O_64) {
    const machine = head.readUInt32LE(4);
    return { platform: 'darwin', architecture: MACH_MACHINES[machine] ?? `machine ${machine}` };
  }
  if (magic === MACH_O_UNIVERSAL && head.readUInt32BE(4) <= MAX_PROCESSORS)
    return { platform: 'darwin', architecture: 'universal' };
  return undefined;
}

/** Returns whether a compiled file runs on the host. */
export function matchesHost(
  format: ProgramFormat,
  host: { platform: string; architecture: string },
): boolean {
  return (
    format.platform === host.platform &&
    (format.architecture === host.architecture || format.architecture === 'universal')
  );
}
