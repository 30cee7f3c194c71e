/**
 * Descriptors that the server was started with (`exec 200</; npm start`, `flock 200>lock`). Every process that a program
 * starts inherits them, apps in a sandbox included, and one of a folder leads out of any sandbox. The server keeps its
 * own, because somebody may hold a lock by them; the launcher, which starts all apps, has no use for them.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** `O_CLOEXEC` as `/proc/self/fdinfo` shows it, the same on every architecture that Node runs on. */
const CLOSED_AT_EXEC = 0o2000000;

/**
 * Closes every descriptor beyond stderr that a process started from here would inherit. Node marks all of its own to be
 * closed. Without /proc it does nothing: on macOS Node starts processes with the descriptors that it names and no other.
 */
export function closeInheritedDescriptors(): void {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (fd > 2 && isInherited(fd)) closeSync(fd);
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_AT_EXEC) === 0;
  } catch {
    // It was the listing's own.
    return false;
  }
}
