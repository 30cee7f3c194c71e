import { Button } from '../button.tsx';
import progressBar from '../progress.module.css';
import { useDelayed } from '../use-delayed.ts';
import { describeUpload } from './describe-upload.ts';
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
