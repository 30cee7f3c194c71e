import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { applicationsQuery } from '../client/applications.ts';

/** Returns the function that names an application; one that is not loaded has its id. */
export function useApplicationName(): (application: string) => string {
  const { data } = useQuery(applicationsQuery);
  return (application) => data?.find(({ id }) => id === application)?.name || application;
}

/** The name of an application, which leads to its page. */
export function ApplicationLink({ application }: { application: string }) {
  const nameApplication = useApplicationName();
  return (
    <Link to="/apps/$application" params={{ application }} title={application}>
      <bdi>{nameApplication(application)}</bdi>
    </Link>
  );
}
