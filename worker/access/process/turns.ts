/**
 * Turns of the event loop for the bytes of all connections. A turn begins no further piece of work after a few milliseconds, so
 * that the process accepts and reads the other runs in between, however much one of them sends.
 */

/** The time after which a turn begins nothing else. */
const TURN_MS = 5;

/** The end of the current turn; null between turns. */
let turnEnd: number | null = null;

/** Calls back once, in the first turn that has time for it. Callers take turns in the order of their calls. */
export function runInTurn(work: () => void): void {
  setImmediate(startInTurn, work);
}

function startInTurn(work: () => void): void {
  if (turnEnd !== null && performance.now() >= turnEnd) return runInTurn(work);
  if (turnEnd === null) {
    turnEnd = performance.now() + TURN_MS;
    // Runs in the next turn before all work that waits for it.
    setImmediate(() => {
      turnEnd = null;
    });
  }
  work();
}
