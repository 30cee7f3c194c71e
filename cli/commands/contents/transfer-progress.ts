/** Transfers of a command: a bar at a terminal, notes about lost connections, and the end by a signal. */
import type { Session } from '../../session/session.ts';
import { createProgressBar } from '../../terminal/progress-bar.ts';
import type { TransferOptions } from '../../transfer/upload.ts';

/**
 * Runs a transfer with a bar. The content has `total` bytes, if that is known. After a lost connection, the sentence about the
 * next attempt begins with `next`.
 */
export async function showTransfer<T>(
  { terminal, output }: Session,
  { label, total, next = 'The next attempt is' }: { label: string; total?: number; next?: string },
  transfer: (options: TransferOptions) => Promise<T>,
): Promise<T> {
  const bar = createProgressBar(terminal, { label, total, isEnabled: output.form === 'text' });
  try {
    return await transfer({
      signal: terminal.signal,
      onProgress: bar.update,
      onRetry: (_error, pauseMs) => {
        bar.end();
        output.note(`The connection was lost. ${next} in ${pauseMs / 1000} s.`);
      },
    });
  } finally {
    bar.end();
  }
}

/** Runs an upload of `total` bytes with a bar. */
export function showUpload<T>(
  session: Session,
  total: number,
  upload: (options: TransferOptions) => Promise<T>,
): Promise<T> {
  return showTransfer(
    session,
    { label: 'Uploading', total, next: 'The upload continues where it stopped' },
    upload,
  );
}
