import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { UploadState } from '../../client/uploads/upload-content.ts';

/** Returns the sentence about the sent bytes, such as `12 MB of 300 MB sent`. The last response takes longer than the others. */
export function describeUpload({ sentBytes, totalBytes }: UploadState): string {
  if (sentBytes >= totalBytes) return `${formatBytes(totalBytes)} sent. The server stores the file …`;
  return `${formatBytes(sentBytes)} of ${formatBytes(totalBytes)} sent`;
}
