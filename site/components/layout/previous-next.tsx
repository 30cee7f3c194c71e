import { Icon } from '@switchyard/design/icon.tsx';
import type { Neighbour } from '../../page-data.ts';

/** Previous and next page along the one fixed order of all pages. */
export function PreviousNextLinks({ previous, next }: { previous?: Neighbour; next?: Neighbour }) {
  if (!previous && !next) return null;
  return (
    <nav className="neighbours" aria-label="Previous and next page">
      {previous && (
        <a className="previous" rel="prev" href={previous.route}>
          <Icon name="previous" />
          <span>
            <small>Previous</small> {previous.label}
          </span>
        </a>
      )}
      {next && (
        <a className="next" rel="next" href={next.route}>
          <span>
            <small>Next</small> {next.label}
          </span>
          <Icon name="next" />
        </a>
      )}
    </nav>
  );
}
