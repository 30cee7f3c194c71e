/** The progress of an experiment on one line. */
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Glyphs } from './glyphs.ts';

interface Progress {
  ended: number;
  total: number;
  failed: number;
  /** Milliseconds until the end; undefined while it is unknown. */
  remainingMs: number | undefined;
}

const BAR_COLUMNS = 20;

/** Returns the line, such as `[#####.....] 12 of 24 runs, 1 failed, about 30 s to go`. Without a total it has no bar. */
export function drawProgress({ ended, total, failed, remainingMs }: Progress, glyphs: Glyphs): string {
  const [full, , empty] = glyphs.fills;
  const filled = total === 0 ? 0 : Math.floor((Math.min(ended, total) / total) * BAR_COLUMNS);
  const bar = `[${full.repeat(filled)}${empty.repeat(BAR_COLUMNS - filled)}] `;
  return [
    total === 0 ? `${ended} ${ended === 1 ? 'run' : 'runs'}` : `${bar}${ended} of ${total} runs`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(remainingMs === undefined ? [] : [`about ${formatDuration(remainingMs)} to go`]),
  ].join(', ');
}
