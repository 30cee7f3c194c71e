import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ExperimentSearch } from './search.ts';

/** A link to the same page with another candidate or indicator. */
export function SearchLink({ changed, children }: { changed: ExperimentSearch; children: ReactNode }) {
  return (
    <Link
      from="/apps/$application/experiments/$type/$id"
      to="."
      search={(search) => ({ ...search, ...changed })}
      preload={false}
    >
      {children}
    </Link>
  );
}
