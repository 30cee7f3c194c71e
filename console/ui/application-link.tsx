import { Link } from '@tanstack/react-router';

/** The id of an application, which leads to its page. */
export function ApplicationLink({ application }: { application: string }) {
  return (
    <Link to="/apps/$application" params={{ application }}>
      {application}
    </Link>
  );
}
