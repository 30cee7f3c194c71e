import { LinkButton } from './button.tsx';
import type { findPlace } from './places.ts';

/** A button that leads to the list of an address. */
export function PlaceLink({ place: { to, label, application } }: { place: ReturnType<typeof findPlace> }) {
  return (
    <LinkButton to={to} params={{ application }}>
      All {label.toLowerCase()}
    </LinkButton>
  );
}
