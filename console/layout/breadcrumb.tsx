import { Link, useParams, useRouterState } from '@tanstack/react-router';
import styles from './breadcrumb.module.css';

/** The pages of an application by the part of the address after its id. Those that list resources have a link. */
const SECTIONS = new Map([
  ['runs', { label: 'Runs', to: '/apps/$application/runs' as const }],
  ['new-run', { label: 'New run', to: undefined }],
  ['logs', { label: 'Log search', to: undefined }],
  ['compare', { label: 'Compare', to: undefined }],
  ['experiments', { label: 'Experiments', to: '/apps/$application/experiments' as const }],
  ['new-experiment', { label: 'New experiment', to: undefined }],
  ['ensembles', { label: 'Ensembles', to: '/apps/$application/ensembles' as const }],
  ['new-ensemble', { label: 'New ensemble', to: undefined }],
  ['inputs', { label: 'Inputs', to: '/apps/$application/inputs' as const }],
  ['input-sets', { label: 'Input sets', to: '/apps/$application/input-sets' as const }],
  ['compare-versions', { label: 'Compare versions', to: undefined }],
  ['new-instance', { label: 'New instance', to: undefined }],
  ['instances', { label: 'Instances', to: undefined }],
  ['secrets', { label: 'Secrets', to: undefined }],
]);

/** The way from the application to the page, as links. Other pages have none: the navigation marks them. */
export function Breadcrumb() {
  const { application } = useParams({ strict: false });
  const path = useRouterState({ select: (state) => state.location.pathname });
  if (application === undefined) return null;
  const [, , , section, ...ids] = path.split('/').map(decodePart);
  const page = section === undefined ? undefined : SECTIONS.get(section);
  return (
    <nav aria-label="Breadcrumb" className={styles.breadcrumb}>
      <ol>
        <li>
          <Link to="/apps/$application" params={{ application }}>
            {application}
          </Link>
        </li>
        {page && (
          <li>
            {page.to === undefined ? (
              page.label
            ) : (
              <Link to={page.to} params={{ application }}>
                {page.label}
              </Link>
            )}
          </li>
        )}
        {ids.length > 0 && (
          <li aria-current="page">
            <code>{ids.at(-1)}</code>
          </li>
        )}
      </ol>
    </nav>
  );
}

/** An address that a person typed may have a percent sign that encodes nothing. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
