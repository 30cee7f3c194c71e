import type { IconName } from '@switchyard/design/icon.tsx';
import { Icon } from '@switchyard/design/icon.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps, useParams } from '@tanstack/react-router';
import { useId } from 'react';
import { applicationQuery, applicationsQuery } from '../client/applications.ts';
import { useRight } from '../ui/use-right.ts';
import styles from './navigation.module.css';

type Stop = readonly [label: string, icon: IconName, to: NonNullable<LinkProps['to']>];

const APPLICATION_STOPS: readonly Stop[] = [
  ['Overview', 'overview', '/apps/$application'],
  ['Runs', 'run', '/apps/$application/runs'],
  ['Experiments', 'experiment', '/apps/$application/experiments'],
  ['Ensembles', 'ensemble', '/apps/$application/ensembles'],
  ['Inputs', 'input', '/apps/$application/inputs'],
  ['Input sets', 'list', '/apps/$application/input-sets'],
  ['Secrets', 'key', '/apps/$application/secrets'],
];

const PLATFORM_STOPS: readonly Stop[] = [
  ['Applications', 'applications', '/'],
  ['Marketplace', 'marketplace', '/marketplace'],
  ['Queue', 'queue', '/queue'],
  ['Workers', 'worker', '/workers'],
  ['Webhooks', 'webhook', '/webhooks'],
];

const ACCOUNT_STOPS: readonly Stop[] = [
  ['Members', 'people', '/account/members'],
  ['Keys', 'key', '/account/keys'],
  ['Sessions', 'session', '/account/sessions'],
];

/** The pages that only administrators of the account may read. */
const ADMINISTRATOR_STOPS: readonly Stop[] = [
  ['Usage', 'usage', '/account/usage'],
  ['Quotas', 'quota', '/account/quotas'],
  ['Retention', 'retention', '/account/retention'],
  ['Share links', 'link', '/account/shares'],
  ['Backups', 'backup', '/account/backups'],
  ['Audit log', 'audit', '/account/audit'],
];

/** The navigation: a track for the application, the platform and the account. The ring is at the current page. */
export function Navigation() {
  const { application } = useParams({ strict: false });
  const managesAccount = useRight('account');
  return (
    <>
      {application !== undefined && (
        <section aria-label="Application" className={styles.group}>
          <ApplicationChooser application={application} />
          <Track stops={APPLICATION_STOPS} application={application} />
        </section>
      )}
      <Group label="Platform" stops={PLATFORM_STOPS} />
      <Group
        label="Account"
        stops={managesAccount ? [...ACCOUNT_STOPS, ...ADMINISTRATOR_STOPS] : ACCOUNT_STOPS}
      />
    </>
  );
}

/** The name of the application, which opens the list of the others. */
function ApplicationChooser({ application }: { application: string }) {
  const id = useId();
  const { data: own } = useQuery(applicationQuery(application));
  const { data: all } = useQuery(applicationsQuery);
  const name = own?.name ?? application;
  return (
    <>
      <button type="button" className={styles.application} popoverTarget={id} title={name}>
        <Icon name="applications" />
        <bdi className={styles.label}>{name}</bdi>
        <Icon name="choose" />
      </button>
      <div id={id} popover="auto" className={styles.applications}>
        {(all ?? []).map((one) => (
          <Link key={one.id} to="/apps/$application" params={{ application: one.id }}>
            <bdi>{one.name}</bdi>
          </Link>
        ))}
      </div>
    </>
  );
}

function Group({ label, stops }: { label: string; stops: readonly Stop[] }) {
  return (
    <section className={styles.group} aria-label={label}>
      <p className={styles.heading}>{label}</p>
      <Track stops={stops} />
    </section>
  );
}

function Track({ stops, application }: { stops: readonly Stop[]; application?: string }) {
  return (
    <ul className={styles.track}>
      {stops.map(([label, icon, to]) => (
        <li key={label}>
          <Link
            to={to}
            {...(application !== undefined && { params: { application } })}
            activeOptions={{ exact: to === '/' || to === '/apps/$application', includeSearch: false }}
            title={label}
          >
            <Icon name={icon} />
            <span className={styles.label}>{label}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
