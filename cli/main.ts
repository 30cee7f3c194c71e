/** The program `switchyard`. */
import { EXIT_CODES } from './errors/exit-codes.ts';
import { runCommandLine } from './program/create-program.ts';
import { createProcessTerminal } from './terminal/terminal.ts';

// A reader such as `head` has closed the pipe: the rest of the output has no reader.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`Standard output cannot be written: ${error.message}.\n`);
  process.exit(EXIT_CODES.failure);
});
process.exitCode = await runCommandLine(process.argv.slice(2), createProcessTerminal());
