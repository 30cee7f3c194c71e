import type { Application } from '@switchyard/contract/applications/applications.ts';
import { listFileChanges } from '@switchyard/contract/applications/list-file-changes.ts';
import type { Version } from '@switchyard/contract/applications/versions.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { applicationQuery, versionsQuery } from '../../client/applications.ts';
import { describeError } from '../../client/client.ts';
import { listItems } from '../../client/list-items.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { isSubscription, SubscriptionNotice } from '../../ui/subscriptions/subscription-notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import styles from './compare-versions-page.module.css';
import { FileDiff } from './file-diff.tsx';
import { FileList } from './file-list.tsx';
import { type ExecutablePair, filesQuery } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/compare-versions');

/** Something that has files: a version, or the active executable. */
interface Side {
  id: string;
  label: string;
  executable: string;
}

/** The files that differ between two versions of an application, and the lines of one of them. */
export function CompareVersionsPage() {
  const { application } = route.useParams();
  usePageTitle('Compare versions', application);
  const { data: app } = useSuspenseQuery(applicationQuery(application));
  const { data } = useSuspenseQuery(versionsQuery(application));
  const canRead = useRight('write');
  const sides = listSides(app, listItems(data));
  return (
    <>
      <PageHeader title="Compare versions" />
      {isSubscription(app) ? (
        <SubscriptionNotice>
          Only the publisher of a subscription reads the files of its versions.
        </SubscriptionNotice>
      ) : !canRead ? (
        <Notice kind="info">Only roles that may push an app read its files.</Notice>
      ) : sides.length < 2 ? (
        <EmptyState title="Nothing to compare yet" command={`npm run push -- path/to/app ${application}`}>
          <p>Create a version of the active executable, then push the next one.</p>
        </EmptyState>
      ) : (
        <Comparison application={application} sides={sides} />
      )}
    </>
  );
}

/** Returns the active executable and the versions, newest first. */
function listSides(app: Application, versions: readonly Version[]): Side[] {
  const active = app.active_executable;
  return [
    ...(active ? [{ id: 'latest', label: 'latest', executable: active.id }] : []),
    ...versions.map(({ id, name, executable }) => ({
      id,
      label: name === id ? id : `${name} (${id})`,
      executable: executable.id,
    })),
  ];
}

/** Returns the versions that the address names. By default they are the newest that differ in their executable. */
function chooseSides(sides: readonly Side[], { from, to }: { from?: string; to?: string }) {
  const [newest] = sides;
  const after = sides.find(({ id }) => id === to) ?? newest;
  const before =
    sides.find(({ id }) => id === from) ??
    sides.find(({ executable }) => executable !== after?.executable) ??
    sides.at(-1);
  return { before, after };
}

function Comparison({ application, sides }: { application: string; sides: readonly Side[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { before, after } = chooseSides(sides, search);
  if (!before || !after) return null;
  const options = sides.map(({ id, label }) => ({ value: id, label }));
  const choose = (values: { from?: string; to?: string }) =>
    void navigate({ search: (current) => ({ ...current, ...values }), replace: true });
  return (
    <article>
      <div className={styles.sides}>
        <SelectField label="From" value={before.id} options={options} onChange={(from) => choose({ from })} />
        <SelectField label="To" value={after.id} options={options} onChange={(to) => choose({ to })} />
      </div>
      <Files
        key={`${before.executable} ${after.executable}`}
        pair={{ application, before: before.executable, after: after.executable }}
      />
    </article>
  );
}

function Files({ pair }: { pair: ExecutablePair }) {
  const before = useQuery(filesQuery(pair.application, pair.before));
  const after = useQuery(filesQuery(pair.application, pair.after));
  const { file } = route.useSearch();
  const error = before.error ?? after.error;
  if (error) return <Notice kind="error">{describeError(error)}</Notice>;
  if (!before.data || !after.data) return <p className={styles.loading}>Reading the files …</p>;
  const changes = listFileChanges(before.data.files, after.data.files);
  const unchanged = after.data.files.length - changes.filter((change) => change.after).length;
  if (changes.length === 0)
    return (
      <Notice kind="info">
        No difference: both have the same {unchanged === 1 ? 'file' : `${unchanged} files`}.
      </Notice>
    );
  const selected = changes.find(({ path }) => path === file) ?? changes[0];
  return (
    <div className={styles.columns}>
      <FileList changes={changes} unchanged={unchanged} selected={selected?.path} />
      {selected && <FileDiff key={selected.path} pair={pair} change={selected} />}
    </div>
  );
}
