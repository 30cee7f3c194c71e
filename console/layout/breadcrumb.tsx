import { Link, useParams, useRouterState } from '@tanstack/react-router';
import styles from './breadcrumb.module.css';

/** Names of the pages of an application, by the part of the address after its id. */
const SECTIONS: Readonly<Record<string, string>> = {
  runs: 'Runs',
  'new-run': 'New run',
  compare: 'Compare',
  experiments: 'Experiments',
  ensembles: 'Ensembles',
  inputs: 'Inputs',
  'input-sets': 'Input sets',
  secrets: 'Secrets',
};

/** The way from the application to the page, as links. Other pages have none: the navigation marks them. */
export function Breadcrumb() {
  const { application } = useParams({ strict: false });
  const path = useRouterState({ select: (state) => state.location.pathname });
  if (application === undefined) return null;
  const [, , , section, ...ids] = path.split('/').map(decodePart);
  const label = section === undefined ? undefined : SECTIONS[section];
  return (
    <nav aria-label="Breadcrumb" className={styles.breadcrumb}>
      <ol>
        <li>
          <Link to="/apps/$application" params={{ application }}>
            {application}
          </Link>
        </li>
        {label !== undefined && (
          <li>
            {section === 'runs' ? (
              <Link to="/apps/$application/runs" params={{ application }}>
                {label}
              </Link>
            ) : (
              label
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
