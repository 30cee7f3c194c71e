import type { ExecutableFileText } from '@switchyard/contract/applications/executables.ts';
import type { FileChange } from '@switchyard/contract/applications/list-file-changes.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useQuery } from '@tanstack/react-query';
import { describeError } from '../../client/client.ts';
import { DiffTable } from '../../ui/diff/diff-table.tsx';
import { Notice } from '../../ui/notice.tsx';
import styles from './compare-versions-page.module.css';
import { type ExecutablePair, fileDiffQuery } from './queries.ts';

const REASONS: Record<NonNullable<ExecutableFileText['omitted']>, string> = {
  binary: 'The file is binary.',
  large: 'The file is larger than 1 MiB.',
  hidden: 'The manifest declares options that are hidden from your role.',
};

/** The lines of one file that differ. */
export function FileDiff({ pair, change }: { pair: ExecutablePair; change: FileChange }) {
  const { data, error } = useQuery(fileDiffQuery(pair, change));
  const path = escapeInvisible(change.path);
  return (
    <section aria-label={path} className={styles.diff}>
      <h2 className="anywhere">{path}</h2>
      <Properties change={change} />
      {error ? (
        <Notice kind="error">{describeError(error)}</Notice>
      ) : data === undefined ? (
        <p className={styles.loading}>Reading the file …</p>
      ) : data.omitted ? (
        <p className={styles.summary}>{REASONS[data.omitted]}</p>
      ) : data.lines === null || data.lines === undefined ? (
        <p className={styles.summary}>The texts differ too much to compare them here.</p>
      ) : (
        <DiffTable lines={data.lines} />
      )}
    </section>
  );
}

/** Changes beside the content: of the target of a link, and of the executable bit. */
function Properties({ change: { before, after } }: { change: FileChange }) {
  const remarks: string[] = [];
  if (before && after && before.executable !== after.executable)
    remarks.push(after.executable ? 'It can be executed now.' : 'It can no longer be executed.');
  if ((before?.target ?? null) !== (after?.target ?? null))
    remarks.push(
      `The link leads to ${escapeInvisible(after?.target ?? 'nothing')}, before to ${escapeInvisible(before?.target ?? 'nothing')}.`,
    );
  return remarks.length === 0 ? null : <p className={styles.summary}>{remarks.join(' ')}</p>;
}
