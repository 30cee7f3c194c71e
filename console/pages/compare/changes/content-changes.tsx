import { listChanges } from '@switchyard/contract/presentation/list-changes.ts';
import { describeError } from '../../../client/client.ts';
import { useContent } from '../../../ui/content/content-query.ts';
import { formatCell } from '../../../ui/content/json-text.ts';
import type { LoadedContent } from '../../../ui/content/load-content.ts';
import { DataTable } from '../../../ui/data-table/data-table.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { getRunContentSource, type RunPart } from '../../../ui/solution/run-content.tsx';
import styles from '../compare-page.module.css';

const LIMITS = {
  changesMax: 200,
  /** A comparison of this many pairs takes a browser about a tenth of a second. */
  pairsMax: 500_000,
};

interface ContentChangesProps {
  application: string;
  part: RunPart;
  /** The ids of the baseline and of the other run. */
  baseline: string;
  other: string;
}

/** The places at which the inputs or the outputs of two runs differ. */
export function ContentChanges({ application, part, baseline, other }: ContentChangesProps) {
  const title = part === 'input' ? 'Input' : 'Output';
  const before = useContent(getRunContentSource(application, baseline, part));
  const after = useContent(getRunContentSource(application, other, part));
  const error = before.error ?? after.error;
  return (
    <section aria-label={title} className={styles.group}>
      <h2>{title}</h2>
      {error ? (
        <Notice kind="error">{describeError(error)}</Notice>
      ) : before.content === undefined || after.content === undefined ? (
        <p className="soft">Loading …</p>
      ) : (
        <Changes title={title} before={before.content} after={after.content} />
      )}
    </section>
  );
}

interface ChangesProps {
  title: string;
  before: LoadedContent | null;
  after: LoadedContent | null;
}

function Changes({ title, before, after }: ChangesProps) {
  if (before?.kind !== 'json' || after?.kind !== 'json') {
    return <p className="soft">{describeOthers(before, after)}</p>;
  }
  const { changes, isComplete } = listChanges(before.value, after.value, LIMITS);
  if (changes.length === 0 && isComplete) return <p className="soft">No difference.</p>;
  return (
    <>
      <DataTable
        label={`Differences of ${title}`}
        rows={changes}
        keyOf={({ path }) => path}
        columns={[
          {
            title: 'Place',
            wraps: true,
            cell: ({ path }) => (
              <code>
                <bdi>{path || 'whole content'}</bdi>
              </code>
            ),
          },
          { title: 'A', wraps: true, cell: ({ before: value }) => formatSide(value) },
          { title: 'B', wraps: true, cell: ({ after: value }) => formatSide(value) },
        ]}
      />
      {!isComplete && <p className="soft">There are more differences than this list shows.</p>}
    </>
  );
}

function formatSide(value: unknown) {
  return <bdi>{value === undefined ? 'none' : formatCell(value)}</bdi>;
}

/** Returns what is known of contents that are not both JSON. */
function describeOthers(before: LoadedContent | null, after: LoadedContent | null): string {
  if (before === null && after === null) return 'Neither run has any.';
  if (before === null || after === null) return 'One of the runs has none.';
  if (before.kind === 'text' && after.kind === 'text')
    return before.text === after.text ? 'No difference.' : 'The texts differ.';
  return 'These contents can be compared only after a download: they are archives, or too large.';
}
