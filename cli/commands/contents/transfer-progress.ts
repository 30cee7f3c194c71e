/** Transfers of a command: a bar at a terminal, notes about lost connections, and the end by a signal. */

import { join } from 'node:path';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { OnRetry } from '@switchyard/contract/transfer/retry.ts';
import { findStateFolder } from '../../profiles/user-folders.ts';
import type { Session } from '../../session/session.ts';
import { createProgressBar, type ProgressBar } from '../../terminal/progress-bar.ts';
import { UnfinishedUploads } from '../../transfer/unfinished-uploads.ts';
import type { TransferOptions, UploadOptions } from '../../transfer/upload.ts';

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
