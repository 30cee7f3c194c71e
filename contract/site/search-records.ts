/** The records of the search. Pages import only their types, so that no browser loads the library of schemas. */
import Type, { type Static } from 'typebox';

const hitFields = {
  /** The text of the place; in a response, its best matching passage. */
  content: Type.String(),
  /** URL path of the page. */
  slug: Type.String(),
  /** The anchor of the place on the page; empty for its beginning. */
  sectionId: Type.String(),
  /** The heading of the place; empty for the beginning of the page. */
  sectionHeader: Type.String(),
  /** `page` is the beginning of a page, `section` the text below one of its headings. */
  type: Type.Enum(['page', 'section', 'operation']),
  meta: Type.Object({
    /** Label of the page in the navigation. */
    pageNavLabel: Type.String(),
    /** The sections that contain the page, outermost first, joined by " / ". */
    pageSection: Type.String(),
    pageTitle: Type.String(),
  }),
};

/** One matching place of the documentation. */
const SearchHit = Type.Object(hitFields);
export type SearchHit = Static<typeof SearchHit>;

/**
 * An indexed hit with extra words that match but are not shown: `names` come from its code, and `keywords` are synonyms
 * for the topic of its page.
 */
export const SearchRecord = Type.Object({ ...hitFields, names: Type.String(), keywords: Type.String() });
export type SearchRecord = Static<typeof SearchRecord>;
