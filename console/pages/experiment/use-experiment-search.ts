import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ExperimentSearch, parseSearch } from './search.ts';

/** Returns the state of the page in its address, and the function that changes a part of it. */
export function useExperimentSearch(): {
  search: ExperimentSearch;
  onSearch: (changed: ExperimentSearch) => void;
} {
  const search = useSearch({ from: '/signed-in/apps/$application/experiments/$type/$id' });
  const navigate = useNavigate({ from: '/apps/$application/experiments/$type/$id' });
  return {
    search,
    onSearch: (changed) =>
      void navigate({ search: parseSearch({ ...search, ...changed }), replace: true, resetScroll: false }),
  };
}
