/**
 * Closes descriptors that the server inherited (`exec 200</; npm start`, `flock 200>lock`). Every child process inherits
 * them too, sandboxed apps included, and an open folder leads out of any sandbox. The server keeps its own, because
 * somebody may hold a lock through them; the launcher, which starts all apps, does not need them.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** `O_CLOEXEC` as `/proc/self/fdinfo` shows it: the same on every architecture that Node supports. */
const CLOSE_ON_EXEC_FLAG = 0o2000000;

/**
 * Closes every descriptor above stderr that a child process would inherit. Node sets close-on-exec on its own. Without
 * /proc it does nothing: on macOS Node passes on only the descriptors that it names.
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
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC_FLAG) === 0;
  } catch {
    // The descriptor of the directory listing, which is closed by now.
    return false;
  }
}
