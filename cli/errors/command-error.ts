/** An error for the person at the terminal, with the exit code of the command. */
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';

/** The message says what is wrong and what to do. It is printed without a stack trace. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT_CODES.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}
