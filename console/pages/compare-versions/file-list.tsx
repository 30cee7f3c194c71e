import type { FileChange } from '@switchyard/contract/applications/list-file-changes.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import styles from './compare-versions-page.module.css';

const route = getRouteApi('/signed-in/apps/$application/compare-versions');
const SIGNS = { added: '+', removed: '−', changed: '±' } as const;

interface FileListProps {
  changes: readonly FileChange[];
  /** Number of files that both have. */
  unchanged: number;
  /** Path of the file whose lines are shown. */
  selected: string | undefined;
}

/** The files that differ, as links to their lines. */
export function FileList({ changes, unchanged, selected }: FileListProps) {
  const params = route.useParams();
  const count = (kind: FileChange['kind']) => changes.filter((change) => change.kind === kind).length;
  return (
    <nav aria-label="Files" className={styles.files}>
      <p className={styles.summary}>
        {count('changed')} changed, {count('added')} added, {count('removed')} removed, {unchanged} unchanged
      </p>
      <ul>
        {changes.map((change) => (
          <li key={change.path}>
            <Link
              to="/apps/$application/compare-versions"
              params={params}
              search={(search) => ({ ...search, file: change.path })}
              replace
              resetScroll={false}
              className={styles.file}
              aria-current={change.path === selected ? 'true' : undefined}
              data-kind={change.kind}
            >
              <span className={styles.sign} role="img" aria-label={change.kind}>
                {SIGNS[change.kind]}
              </span>
              <span className="anywhere">{escapeInvisible(change.path)}</span>
              <span className={styles.size}>{describeSize(change)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function describeSize({ before, after }: FileChange): string {
  if (before && after && before.size !== after.size)
    return `${formatBytes(before.size)} → ${formatBytes(after.size)}`;
  return formatBytes((after ?? before)?.size ?? 0);
}
