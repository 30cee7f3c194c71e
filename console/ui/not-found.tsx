import { useRouterState } from '@tanstack/react-router';
import { BrokenPage } from './page-error.tsx';
import { PlaceLink } from './place-link.tsx';
import { findPlace } from './places.ts';

/** The page of an address that names nothing. */
export function NotFound() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <BrokenPage
      icon="question"
      title="There is nothing at this address"
      action={<PlaceLink place={findPlace(path)} />}
    >
      <p>It may have been deleted, or the link is incomplete.</p>
    </BrokenPage>
  );
}
