import { Link } from '@tanstack/react-router';

/** The name of an application, which leads to its page. */
export function ApplicationLink({ id, name }: { id: string; name: string }) {
  return (
    <Link to="/apps/$application" params={{ application: id }} title={id}>
      <bdi>{name}</bdi>
    </Link>
  );
}
