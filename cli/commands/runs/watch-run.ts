/** Waits for a run at a terminal, with its status, its log and its objective as they come. */
import { formatDuration, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  mergeSeries,
  NO_SERIES,
  type SeriesChange,
} from '@switchyard/contract/runs/presentation/merge-series.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { isTransient } from '../../errors/retry.ts';
import { formatHint } from '../../session/hints.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { createLiveLine, type LiveLine } from '../../terminal/live-line.ts';
import { formatSparkline } from '../../terminal/sparkline.ts';
import { supportsUnicode } from '../../terminal/unicode.ts';
import { followRun, type RunParams } from './follow-run.ts';
import { chooseProgress } from './run-series.ts';

const SPARKLINE_COLUMNS = 40;
const TICK_MS = 1000;
/** How often the reason of a queued run is read again. */
const REASON_MS = 5000;

/** Receives each line of the log as it comes. */
type WriteLine = (line: { timestamp: string; log: string }) => void;

/**
 * Waits for the end of the run and returns its status. A signal that ends the command leaves the run alive, as a server that
 * cannot be reached does; a note says how to follow it again.
 *
 * The run was created `elapsedMs` before the call.
 */
export async function watchRun(
  session: Session,
  params: RunParams,
  { writeLine, elapsedMs = 0 }: { writeLine?: WriteLine; elapsedMs?: number } = {},
): Promise<RunStatusV2> {
  const { terminal, output } = session;
  const line = createLiveLine(terminal, output.form === 'text');
  const view = createRunView(session, line, { params, startedAt: Date.now() - elapsedMs });
  const timers = [setInterval(view.draw, TICK_MS), setInterval(view.refreshReason, REASON_MS)];
  try {
    return await followRun({
      client: session.connect(),
      params,
      signal: terminal.signal,
      observer: {
        onStatus: (status) => view.setStatus(status),
        ...(line.isVisible && { onSeries: (change: SeriesChange) => view.addSeries(change) }),
        ...(writeLine && {
          onLines: (lines: readonly Parameters<WriteLine>[0][]) =>
            line.printAbove(() => lines.forEach(writeLine)),
        }),
      },
    });
  } catch (error) {
    line.end();
    if (terminal.signal.aborted || isTransient(error))
      terminal.err.write(
        `Run ${params.run_id} continues. Follow it again with: ${formatHint(session, `logs ${params.run_id} --follow`)}\n`,
      );
    throw error;
  } finally {
    for (const timer of timers) clearInterval(timer);
    line.end();
  }
}

/** The state of the last line: `running 12.0 s  objective 1,040.6 ▇▅▃▂▁`, or `queued 3.0 s  …` with the reason. */
function createRunView(
  session: Session,
  line: LiveLine,
  { params, startedAt }: { params: RunParams; startedAt: number },
) {
  const isUnicode = supportsUnicode(session.terminal);
  let status: RunStatusV2 | undefined;
  let reason = '';
  let progress = NO_SERIES;
  const draw = (): void => {
    if (status === undefined || isTerminal(status)) return;
    const [main] = chooseProgress(progress.series);
    const values = main?.points.map(([, y = 0]) => y) ?? [];
    const last = values.at(-1);
    const chart =
      main && last !== undefined
        ? `${cleanLine(main.name)} ${formatValue(last)} ${formatSparkline(values, { width: SPARKLINE_COLUMNS, isUnicode })}`
        : '';
    const details = status === 'queued' ? reason : chart;
    line.update(`${status} ${formatDuration(Date.now() - startedAt)}  ${details}`);
  };
  /** Reads why the run waits. Without a response the line has no reason. */
  const refreshReason = (): void => {
    if (status !== 'queued' || !line.isVisible) return;
    session
      .connect()
      .call('getRunMetadata', { params })
      .then(({ body }) => {
        reason = cleanLine(body.metadata.waiting?.message ?? '');
        draw();
      })
      .catch(() => {});
  };
  return {
    draw,
    refreshReason,
    setStatus(next: RunStatusV2): void {
      status = next;
      refreshReason();
      draw();
    },
    addSeries(change: SeriesChange): void {
      progress = mergeSeries(progress, change);
      draw();
    },
  };
}
