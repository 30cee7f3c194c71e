import { getRouteApi, Link } from '@tanstack/react-router';
import { AssetList } from '../../ui/assets/asset-list.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RunContent } from '../../ui/solution/run-content.tsx';
import styles from './run-content-page.module.css';

const route = getRouteApi('/signed-in/apps/$application/runs/$run/content');
const PARTS = [
  ['output', 'Output'],
  ['input', 'Input'],
  ['assets', 'Assets'],
] as const;

/** The output or input of a run. */
export function RunContentPage() {
  const { application, run } = route.useParams();
  const { part = 'output', mode } = route.useSearch();
  const navigate = route.useNavigate();
  const title = PARTS.find(([id]) => id === part)?.[1];
  usePageTitle(title, run, application);
  return (
    <>
      <PageHeader title={`${title} of ${run}`} />
      <nav className={styles.parts} aria-label="Content of the run">
        {PARTS.map(([id, label]) => (
          <Link
            key={id}
            from="/apps/$application/runs/$run/content"
            to="."
            search={{ part: id }}
            {...(id === part && { 'aria-current': 'page' })}
          >
            {label}
          </Link>
        ))}
      </nav>
      {part === 'assets' ? (
        <AssetList application={application} run={run} />
      ) : (
        <RunContent
          key={part}
          application={application}
          run={run}
          part={part}
          mode={mode}
          onSelectMode={(chosen) => void navigate({ search: { part, mode: chosen }, replace: true })}
        />
      )}
    </>
  );
}
