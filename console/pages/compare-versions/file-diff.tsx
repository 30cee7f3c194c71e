import type { ExecutableFileText } from '@switchyard/contract/applications/executables.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { escapeInvisible } from '../../ui/content/json-text.ts';
import { Notice } from '../../ui/notice.tsx';
import styles from './compare-versions-page.module.css';
import type { DiffLine } from './diff-lines.ts';
import type { FileChange } from './list-file-changes.ts';
import { type ExecutablePair, fileDiffQuery } from './queries.ts';

/** More rows than this delay the page; a button shows as many again. */
const VISIBLE_LINES = 2_000;

const REASONS: Record<NonNullable<ExecutableFileText['omitted']>, string> = {
  binary: 'The file is binary.',
  large: 'The file is larger than 1 MiB.',
  hidden: 'The manifest declares options that are hidden from your role.',
};
const SIGNS = { added: '+', removed: '-', same: '', gap: '' } as const;

/** The lines of one file that differ. */
export function FileDiff({ pair, change }: { pair: ExecutablePair; change: FileChange }) {
  const { data, error } = useQuery(fileDiffQuery(pair, change));
  const path = escapeInvisible(change.path);
  return (
    <section aria-label={path} className={styles.diff}>
      <h2 className={styles.path}>{path}</h2>
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

function DiffTable({ lines }: { lines: readonly DiffLine[] }) {
  const [visible, setVisible] = useState(VISIBLE_LINES);
  if (lines.length === 0) return <p className={styles.summary}>The content is the same.</p>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard */}
      <section className={styles.lines} tabIndex={0} aria-label="Changed lines">
        <table>
          <thead>
            <tr>
              <th>Before</th>
              <th>After</th>
              <th>Change</th>
              <th>Line</th>
            </tr>
          </thead>
          <tbody>
            {lines.slice(0, visible).map((line) => (
              <tr key={`${line.before} ${line.after}`} data-kind={line.kind}>
                <td>{line.before}</td>
                <td>{line.after}</td>
                <td>{SIGNS[line.kind]}</td>
                <td>
                  <code>{line.kind === 'gap' ? '⋯' : formatLine(line.text)}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {lines.length > visible && (
        <Button onPress={() => setVisible(visible + VISIBLE_LINES)}>
          Show more of {lines.length - visible} lines
        </Button>
      )}
    </>
  );
}

/** Returns the line with invisible characters as escapes. Tabs stay, because they indent. */
function formatLine(text: string): string {
  return text.split('\t').map(escapeInvisible).join('\t');
}
