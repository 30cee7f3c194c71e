import { Icon } from '@switchyard/design/icon.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { applicationQuery, applicationSearchQuery } from '../client/applications.ts';
import { useRight } from '../ui/use-right.ts';
import styles from './navigation.module.css';
import { ACCOUNT_PAGES, ADMINISTRATOR_PAGES, APPLICATION_PAGES, PLATFORM_PAGES } from './pages.ts';

type Page = (
  | typeof APPLICATION_PAGES
  | typeof PLATFORM_PAGES
  | typeof ACCOUNT_PAGES
  | typeof ADMINISTRATOR_PAGES
)[number];

/** The navigation: a track for the application, the platform and the account. The ring is at the current page. */
export function Navigation() {
  const { application } = useParams({ strict: false });
  const managesAccount = useRight('account');
  return (
    <>
      {application !== undefined && (
        <Group label="Application" pages={APPLICATION_PAGES} application={application} />
      )}
      <Group label="Platform" pages={PLATFORM_PAGES} />
      <Group
        label="Account"
        pages={managesAccount ? [...ACCOUNT_PAGES, ...ADMINISTRATOR_PAGES] : ACCOUNT_PAGES}
      />
    </>
  );
}

/** The name of the application, which opens a search among the others. */
function ApplicationChooser({ application }: { application: string }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const { data: own } = useQuery(applicationQuery(application));
  const { data: found } = useQuery({ ...applicationSearchQuery(typed), enabled: isOpen });
  const name = own?.name ?? application;
  return (
    <>
      <button type="button" className={styles.application} popoverTarget={id} title={name}>
        <Icon name="applications" />
        <bdi className={styles.label}>{name}</bdi>
        <Icon name="choose" />
      </button>
      <div
        id={id}
        popover="auto"
        className={`popover ${styles.applications}`}
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && (
          <input
            // biome-ignore lint/a11y/noAutofocus: the person has just opened this field
            autoFocus
            type="search"
            aria-label="Search applications"
            placeholder="Name or id"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        {(found?.items ?? []).map((one) => (
          <Link key={one.id} to="/apps/$application" params={{ application: one.id }}>
            <bdi>{one.name}</bdi>
          </Link>
        ))}
        {found?.next_page_token !== undefined && (
          <Link to="/" className={styles.all}>
            All applications
          </Link>
        )}
      </div>
    </>
  );
}

interface GroupProps {
  label: string;
  pages: readonly Page[];
  /** The application that the pages belong to; absent for those of all. */
  application?: string;
}

function Group({ label, pages, application }: GroupProps) {
  return (
    <section className={styles.group} aria-label={label}>
      {application === undefined ? (
        <p className={styles.heading}>{label}</p>
      ) : (
        <ApplicationChooser application={application} />
      )}
      <ul className={styles.track}>
        {pages.map(
          (page) =>
            'icon' in page && (
              <li key={page.label}>
                <Link
                  to={page.to}
                  {...(application !== undefined && { params: { application } })}
                  activeOptions={{
                    exact: page.to === '/' || page.to === '/apps/$application',
                    includeSearch: false,
                  }}
                  title={page.label}
                >
                  <Icon name={page.icon} />
                  <span className={styles.label}>{page.label}</span>
                </Link>
              </li>
            ),
        )}
      </ul>
    </section>
  );
}
