import { SEARCH_QUERY_CHARS_MAX } from '@switchyard/contract/site/search.ts';
import { Icon } from '@switchyard/design/icon.tsx';

const label = 'Search the documentation';

/** The search box of the header. A script shows results while the reader types; without one Enter loads a page of them. */
export function SearchBox() {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the search element is not known to every browser that reads this.
    <form className="search" action="/search" role="search" data-search-form="">
      <Icon name="search" />
      <input
        type="search"
        name="q"
        placeholder="Search"
        aria-label={label}
        autoComplete="off"
        maxLength={SEARCH_QUERY_CHARS_MAX}
      />
      <span className="search-key needs-script" aria-hidden="true">
        /
      </span>
    </form>
  );
}

/** A search form in the text of an error page, with a place for results below it. */
export function SearchAgain() {
  return (
    <>
      <form className="search-again" action="/search">
        <input
          type="search"
          name="q"
          aria-label={label}
          autoComplete="off"
          maxLength={SEARCH_QUERY_CHARS_MAX}
          required
          data-question=""
        />
        <button type="submit">Search</button>
      </form>
      <div className="results" data-results="" />
    </>
  );
}
