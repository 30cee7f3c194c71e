import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRight } from '../ui/use-right.ts';
import styles from './navigation.module.css';

/** The links of the navigation. Inside an application, its own pages come first. */
export function Navigation() {
  const { application } = useParams({ strict: false });
  const managesAccount = useRight('account');
  return (
    <>
      {application !== undefined && <ApplicationLinks application={application} />}
      <Group>
        <li>
          <Link to="/" activeOptions={{ exact: true }}>
            Applications
          </Link>
        </li>
        <li>
          <Link to="/marketplace">Marketplace</Link>
        </li>
        <li>
          <Link to="/queue">Queue</Link>
        </li>
        <li>
          <Link to="/workers">Workers</Link>
        </li>
        <li>
          <Link to="/webhooks">Webhooks</Link>
        </li>
      </Group>
      <Group label="Account">
        <li>
          <Link to="/account/members">Members</Link>
        </li>
        <li>
          <Link to="/account/keys">Keys</Link>
        </li>
        <li>
          <Link to="/account/sessions">Sessions</Link>
        </li>
        {managesAccount && <AdministratorLinks />}
      </Group>
    </>
  );
}

/** The pages that only administrators of the account may read. */
function AdministratorLinks() {
  return (
    <>
      <li>
        <Link to="/account/usage" activeOptions={{ includeSearch: false }}>
          Usage
        </Link>
      </li>
      <li>
        <Link to="/account/quotas">Quotas</Link>
      </li>
      <li>
        <Link to="/account/retention">Retention</Link>
      </li>
      <li>
        <Link to="/account/shares" activeOptions={{ includeSearch: false }}>
          Share links
        </Link>
      </li>
      <li>
        <Link to="/account/backups">Backups</Link>
      </li>
      <li>
        <Link to="/account/audit" activeOptions={{ includeSearch: false }}>
          Audit log
        </Link>
      </li>
    </>
  );
}

/** The pages of one application, below its id. */
function ApplicationLinks({ application }: { application: string }) {
  const params = { application };
  const mayRun = useRight('run');
  return (
    <Group label={application}>
      <li>
        <Link to="/apps/$application" params={params} activeOptions={{ exact: true, includeSearch: false }}>
          Overview
        </Link>
      </li>
      <li>
        <Link to="/apps/$application/runs" params={params} activeOptions={{ includeSearch: false }}>
          Runs
        </Link>
      </li>
      {mayRun && (
        <li>
          <Link to="/apps/$application/new-run" params={params} activeOptions={{ includeSearch: false }}>
            New run
          </Link>
        </li>
      )}
      <li>
        <Link to="/apps/$application/logs" params={params} activeOptions={{ includeSearch: false }}>
          Log search
        </Link>
      </li>
      <li>
        <Link to="/apps/$application/experiments" params={params} activeOptions={{ includeSearch: false }}>
          Experiments
        </Link>
      </li>
      <li>
        <Link to="/apps/$application/ensembles" params={params} activeOptions={{ includeSearch: false }}>
          Ensembles
        </Link>
      </li>
      <li>
        <Link to="/apps/$application/inputs" params={params} activeOptions={{ includeSearch: false }}>
          Inputs
        </Link>
      </li>
      <li>
        <Link to="/apps/$application/input-sets" params={params} activeOptions={{ includeSearch: false }}>
          Input sets
        </Link>
      </li>
      <li>
        <Link to="/apps/$application/secrets" params={params} activeOptions={{ includeSearch: false }}>
          Secrets
        </Link>
      </li>
    </Group>
  );
}

function Group({ label, children }: { label?: string; children?: ReactNode }) {
  return (
    <section className={styles.group} aria-label={label}>
      {label !== undefined && <p className={styles.label}>{label}</p>}
      <ul>{children}</ul>
    </section>
  );
}
