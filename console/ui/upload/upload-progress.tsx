import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { UploadState } from '../../client/uploads/upload-content.ts';
import { Button } from '../button.tsx';
import progressBar from '../progress.module.css';
import { useDelayed } from '../use-delayed.ts';
import styles from './upload-progress.module.css';
import type { FormUpload } from './use-upload.ts';

/** Progress of an upload that takes longer than a moment, with a button that cancels it. */
export function UploadProgress({ upload: { state, cancel } }: { upload: FormUpload }) {
  const isVisible = useDelayed(state !== null) || Boolean(state?.problem);
  if (!state || !isVisible) return null;
  return (
    <section className={styles.upload} aria-label="Upload">
      <progress
        className={`${progressBar.bar} ${styles.bar}`}
        value={state.sentBytes}
        max={Math.max(state.totalBytes, 1)}
        aria-label="Sent bytes"
      />
      <div className={styles.line}>
        <span>{describeUpload(state)}</span>
        <Button onPress={cancel}>Cancel upload</Button>
      </div>
      {/* The region exists before its text, or screen readers do not announce it. */}
      <p className={styles.problem} role="status">
        {state.problem}
      </p>
    </section>
  );
}

/** Returns the sentence about the sent bytes, such as `12 MB of 300 MB sent`. The last response takes longer than the others. */
function describeUpload({ sentBytes, totalBytes }: UploadState): string {
  if (sentBytes >= totalBytes) return `${formatBytes(totalBytes)} sent. The server stores the file …`;
  return `${formatBytes(sentBytes)} of ${formatBytes(totalBytes)} sent`;
}
