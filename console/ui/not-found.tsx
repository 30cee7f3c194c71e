import { Link } from '@tanstack/react-router';
import { PageHeader } from './page-header.tsx';
import { usePageTitle } from './page-title.ts';

/** The page of an address that names nothing. */
export function NotFound() {
  usePageTitle('Not found');
  return (
    <>
      <PageHeader title="There is nothing at this address" />
      <p>
        It may have been deleted, or the link is incomplete. <Link to="/">All applications</Link>
      </p>
    </>
  );
}
