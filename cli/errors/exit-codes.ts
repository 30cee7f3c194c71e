/**
 * The exit codes of `switchyard`. Scripts depend on them, so a code never changes its meaning. The page "Command line" of the
 * documentation lists them.
 */
export const EXIT_CODES = {
  success: 0,
  /** The command did what it was asked to, and the result is bad: a failed run, a test that was not passed. */
  failure: 1,
  /** A wrong argument or option, or a file that cannot be read. */
  usage: 2,
  /** No token, or one without the right that the operation needs. */
  forbidden: 3,
  /** The server has no such resource. */
  notFound: 4,
  /** The server refused the request for another reason. */
  refused: 5,
  /** The server cannot be reached, or has an error. */
  unavailable: 6,
  /** With `--decide`: the runs do not decide whether to release the candidate. */
  undecided: 7,
  /** SIGINT; shells use 128 and the number of the signal. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];
