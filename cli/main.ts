/** The program `switchyard`. */
import { runCommandLine } from './program/create-program.ts';
import { createProcessTerminal } from './terminal/terminal.ts';

// A reader such as `head` has closed the pipe: the rest of the output has no reader.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});
process.exitCode = await runCommandLine(process.argv.slice(2), createProcessTerminal());
