import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useRouterState } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { applicationQuery } from '../client/applications.ts';
import { LISTS, OTHERS } from '../ui/places.ts';
import styles from './breadcrumb.module.css';

/** The way to the page: the name of its application, its list, and its title. */
export function Breadcrumb({ title }: { title: string }) {
  const { application } = useParams({ strict: false });
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [, first = '', second, section = '', ...ids] = path.split('/');
  const other = second ? OTHERS.get(first) : undefined;
  const list = ids.length > 0 ? LISTS.get(section) : undefined;
  const page = section === '' && application !== undefined ? 'Overview' : title;
  const steps: [key: string, step: ReactNode][] = [];
  if (application !== undefined)
    steps.push(['application', <ApplicationLink key="" application={application} />]);
  if (application !== undefined && list)
    steps.push([
      'list',
      <Link key="" to={list.to} params={{ application }} activeOptions={{ exact: true }}>
        {list.label}
      </Link>,
    ]);
  if (other)
    steps.push([
      'list',
      <Link key="" to={other.to} activeOptions={{ exact: true }}>
        {other.label}
      </Link>,
    ]);
  return (
    <nav aria-label="Breadcrumb" className={styles.breadcrumb}>
      <ol>
        {steps.map(([key, step]) => (
          <Fragment key={key}>
            <li data-step={key}>{step}</li>
            <li aria-hidden="true" data-step={key}>
              /
            </li>
          </Fragment>
        ))}
        <li aria-current="page">
          <bdi>{page}</bdi>
        </li>
      </ol>
    </nav>
  );
}

function ApplicationLink({ application }: { application: string }) {
  const { data } = useQuery(applicationQuery(application));
  return (
    <Link to="/apps/$application" params={{ application }} activeOptions={{ exact: true }}>
      <bdi>{data?.name ?? application}</bdi>
    </Link>
  );
}
