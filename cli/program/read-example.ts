/** The example in the help of a command. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** Returns the lines of the example of the help; empty without one. Commander prints it from a listener, so it is read from the output. */
export function readExample(command: CommandUnknownOpts): string {
  let text = '';
  const { writeOut } = command.configureOutput();
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  command.configureOutput(writeOut ? { writeOut } : {});
  const [, example = ''] = text.split(/^Examples?:\n/m);
  return example.replaceAll(/^ {2}/gm, '').trimEnd();
}
