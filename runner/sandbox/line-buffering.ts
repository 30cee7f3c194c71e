/**
 * Makes programs in C and C++ write each line of their output at once. Into a file or a pipe their library collects 4 kB
 * first, so that the log of CBC or of any other such solver would arrive seconds late. A pseudo-terminal would do it too, but
 * changes what programs write: line ends, colours, progress bars.
 */
import { existsSync } from 'node:fs';

/** Where coreutils keeps the library of its program `stdbuf`: Debian and Fedora, Arch, and Ubuntu before 22.04. */
const LIBRARIES = [
  '/usr/libexec/coreutils/libstdbuf.so',
  '/usr/lib/coreutils/libstdbuf.so',
  '/usr/lib/x86_64-linux-gnu/coreutils/libstdbuf.so',
  '/usr/lib/aarch64-linux-gnu/coreutils/libstdbuf.so',
];

/** Returns the variables of an app by which the programs that it starts write line by line; none where the library is missing. */
export function listLineBuffering(): Record<string, string> {
  const library = process.platform === 'linux' ? LIBRARIES.find((path) => existsSync(path)) : undefined;
  return library === undefined ? {} : { LD_PRELOAD: library, _STDBUF_O: 'L', _STDBUF_E: 'L' };
}
