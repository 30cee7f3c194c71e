/** Waits for the end of an experiment, and reports its progress. */

import { setTimeout } from 'node:timers/promises';
import { hasFact } from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  countRuns,
  type ExperimentAddress,
  type ExperimentState,
  readState,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { isExperimentTerminal } from '@switchyard/contract/states.ts';
import { CommandError } from '../errors/command-error.ts';
import { isTransient } from '../errors/retry.ts';
import { formatHint } from '../session/hints.ts';
import type { Session } from '../session/session.ts';
import { createLiveLine } from '../terminal/live-line.ts';
import { chooseGlyphs } from '../terminal/pictures/glyphs.ts';
import { drawProgress } from '../terminal/pictures/progress-bar.ts';

/** The first check follows soon, for short runs; later ones are a second apart. */
const POLL_MS_MIN = 100;
const POLL_MS_MAX = 1000;

/** Calls the function until it returns a value other than undefined. Throws when the terminal is interrupted. */
export async function poll<Value>(
  signal: AbortSignal,
  read: () => Promise<Value | undefined>,
): Promise<Value> {
  for (let wait = POLL_MS_MIN; ; wait = Math.min(2 * wait, POLL_MS_MAX)) {
    signal.throwIfAborted();
    const value = await read();
    if (value !== undefined) return value;
    await setTimeout(wait, undefined, { signal });
  }
}

interface WaitSettings {
  /** Called with each state that has not ended; a value ends the wait, as a verdict that allows to stop. */
  checkEarly?: (state: ExperimentState) => Promise<boolean>;
}

/** Returns the state at the end of the experiment. A draft has no end: throws CommandError. */
export async function waitForEnd(
  session: Session,
  address: ExperimentAddress,
  { checkEarly }: WaitSettings = {},
): Promise<ExperimentState> {
  const client = session.connect();
  const report = createProgressReport(session, address);
  try {
    return await poll(session.terminal.signal, async () => {
      const state = await readState(client, address);
      if (state.status === 'draft')
        throw new CommandError(
          `${address.id} is a draft and has no runs yet. Start it with: switchyard experiments start ${address.id}`,
        );
      const hasEnded = isExperimentTerminal(state.status) && hasFinishedRuns(address, state);
      report.update(state, hasEnded);
      if (hasEnded || (await checkEarly?.(state))) return state;
      return undefined;
    });
  } catch (error) {
    report.end();
    if (session.terminal.signal.aborted || isTransient(error))
      session.terminal.err.write(
        `Experiment ${address.id} continues. Watch it again with: ${formatHint(session, `experiments watch ${address.id}`)}\n`,
      );
    throw error;
  } finally {
    report.end();
  }
}

/** Copies of a completed shadow test, and live runs of a switchback test, end after the test and still count. */
function hasFinishedRuns({ type }: ExperimentAddress, state: ExperimentState): boolean {
  return !hasFact(type, 'isLive') || (state.number_of_completed_runs ?? 0) >= (state.number_of_runs ?? 0);
}

interface ProgressReport {
  update(state: ExperimentState, isLast: boolean): void;
  end(): void;
}

/** At a terminal the report is one line that changes; in a log it is a line for each tenth of the runs. */
function createProgressReport({ terminal, output }: Session, { type }: ExperimentAddress): ProgressReport {
  const live = createLiveLine(terminal, output.form === 'text');
  const glyphs = chooseGlyphs(terminal.env);
  const begin = Date.now();
  let first: number | undefined;
  let written = '';
  const update = (state: ExperimentState, isLast: boolean): void => {
    const ended = state.number_of_completed_runs ?? 0;
    const total = hasFact(type, 'isLive') ? 0 : countRuns(state);
    first ??= ended;
    const done = ended - first;
    // The speed of this wait: the server may have paused before.
    const remainingMs =
      done > 0 && total > 0 && !isLast ? ((total - ended) * (Date.now() - begin)) / done : undefined;
    const line = drawProgress(
      { ended, total, failed: state.number_of_failed_runs ?? 0, remainingMs },
      glyphs,
    );
    const step = total === 0 ? String(ended) : String(Math.floor((10 * ended) / total));
    if (live.isVisible && !isLast) live.update(line);
    else if (isLast || step !== written) {
      live.end();
      output.note(line);
    }
    written = step;
  };
  return { update, end: live.end };
}
