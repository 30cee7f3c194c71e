/** The options of the program that every command understands too. */
import type { Option } from '@commander-js/extra-typings';

/** Returns these options: all of the program but its version, because commands have a `--version` with another meaning. */
export function listGlobalOptions(program: { options: readonly Option[] }): Option[] {
  return program.options.filter(({ long }) => long !== '--version');
}
