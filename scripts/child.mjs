/** The process that a script has started, and whose status becomes its own. */
import { constants } from 'node:os';

/**
 * Forwards SIGINT and SIGTERM to the child as SIGTERM, and exits with its status when it has ended. Ctrl-C at a terminal also
 * signals the child directly, which treats the duplicate as one signal.
 * @param {import('node:child_process').ChildProcess} child
 */
export function exitWithChild(child) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(signal, () => child.kill('SIGTERM'));
  }
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
}
