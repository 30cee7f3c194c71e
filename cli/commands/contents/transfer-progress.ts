/** Transfers of a command: a bar at a terminal, notes about lost connections, and the end by a signal. */
import { join } from 'node:path';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { OnRetry } from '@switchyard/contract/transfer/retry.ts';
import { findStateFolder } from '../../profiles/user-folders.ts';
import type { Session } from '../../session/session.ts';
import { createLiveLine } from '../../terminal/live-line.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { supportsUnicode } from '../../terminal/unicode.ts';
import { UnfinishedUploads } from '../../transfer/unfinished-uploads.ts';
import type { TransferOptions, UploadOptions } from '../../transfer/upload.ts';

const BAR_COLUMNS = 24;

/**
 * Runs a transfer with a bar. The content has `total` bytes, if that is known. After a lost connection, the sentence about the
 * next attempt begins with `next`.
 */
export async function showTransfer<T>(
  { terminal, output }: Session,
  { label, total, next = 'The next attempt is' }: { label: string; total?: number; next?: string },
  transfer: (options: TransferOptions, bar: ProgressBar) => Promise<T>,
): Promise<T> {
  const bar = createProgressBar(terminal, { label, total, isEnabled: output.form === 'text' });
  try {
    const onRetry: OnRetry = (_error, pauseMs) => {
      bar.end();
      output.note(`The connection was lost. ${next} in ${pauseMs / 1000} s.`);
    };
    return await transfer({ signal: terminal.signal, onProgress: bar.update, onRetry }, bar);
  } finally {
    bar.end();
  }
}

/** Runs an upload of `total` bytes with a bar. It continues an upload that an earlier command left unfinished. */
export function showUpload<T>(
  session: Session,
  total: number,
  upload: (options: UploadOptions) => Promise<T>,
): Promise<T> {
  const { terminal, output } = session;
  return showTransfer(
    session,
    { label: 'Uploading', total, next: 'The upload continues where it stopped' },
    (options, bar) =>
      upload({
        ...options,
        unfinished: new UnfinishedUploads(session.findConnection(), {
          folder: join(findStateFolder(terminal.env), 'uploads'),
        }),
        onResume: (bytes) => {
          bar.begin(bytes);
          if (bytes > 0) output.note(formatResumption(bytes, total));
        },
      }),
  );
}

function formatResumption(bytes: number, total: number): string {
  const percent = Math.floor((bytes / total) * 100);
  return `Resuming at ${percent} %: an earlier command sent ${formatBytes(bytes)} of ${formatBytes(total)}.`;
}

interface ProgressBar {
  /** Sets the number of bytes that were transferred before, which the rate leaves out. */
  begin(bytes: number): void;
  /** Shows that this many bytes were transferred. */
  update(bytes: number): void;
  /** Removes the bar. */
  end(): void;
}

/** Returns a bar on standard error; one that shows nothing unless that is a terminal. */
function createProgressBar(
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
