/** The progress of a transfer, in one line at a terminal. */
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { createLiveLine } from './live-line.ts';
import type { Terminal } from './terminal.ts';
import { supportsUnicode } from './unicode.ts';

const BAR_COLUMNS = 24;

export interface ProgressBar {
  /** Sets the number of bytes that were transferred before, which the rate leaves out. */
  begin(bytes: number): void;
  /** Shows that this many bytes were transferred. */
  update(bytes: number): void;
  /** Removes the bar. */
  end(): void;
}

/** Returns a bar on standard error; one that shows nothing unless that is a terminal. */
export function createProgressBar(
  terminal: Pick<Terminal, 'err' | 'env'>,
  { label, total, isEnabled = true }: { label: string; total?: number | undefined; isEnabled?: boolean },
): ProgressBar {
  const line = createLiveLine(terminal, isEnabled);
  const isUnicode = supportsUnicode(terminal);
  const startedAt = Date.now();
  let bytesBefore = 0;
  return {
    begin(bytes) {
      bytesBefore = bytes;
    },
    update: (bytes) =>
      line.update(
        formatProgress({ label, total, bytes, bytesBefore, ms: Date.now() - startedAt, isUnicode }),
      ),
    end: () => line.end(),
  };
}

/** Formats a progress, such as `Uploading [######------] 50 %  6 MB of 12 MB  3 MB/s`. Pure. */
export function formatProgress(progress: {
  label: string;
  /** Bytes of the whole content; undefined when they are not known. */
  total: number | undefined;
  bytes: number;
  /** Those of `bytes` that were transferred before the start. */
  bytesBefore?: number;
  /** Milliseconds since the start. */
  ms: number;
  isUnicode: boolean;
}): string {
  const { label, total, bytes, bytesBefore = 0, ms, isUnicode } = progress;
  const rate = ms > 0 ? `  ${formatBytes(((bytes - bytesBefore) / ms) * 1000)}/s` : '';
  if (total === undefined) return `${label} ${formatBytes(bytes)}${rate}`;
  const share = total === 0 ? 1 : Math.min(1, bytes / total);
  const filled = Math.round(share * BAR_COLUMNS);
  const [on, off] = isUnicode ? ['█', '░'] : ['#', '-'];
  const bar = `${on.repeat(filled)}${off.repeat(BAR_COLUMNS - filled)}`;
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${label} [${bar}] ${percent} %  ${formatBytes(bytes)} of ${formatBytes(total)}${rate}`;
}
