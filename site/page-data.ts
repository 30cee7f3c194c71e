/**
 * Everything the components may know. It is computed once while the content is read; a component only displays it.
 */
import type { RenderableTreeNodes } from '@markdoc/markdoc';

/** One entry of the navigation tree: a page, a folder of pages, or a link that leaves the site. */
export type NavigationEntry = {
  slug: string;
  label: string;
  navOrder: number;
  /** The address of the page; absent for a folder that has no page of its own. */
  route?: string;
  externalUrl?: string;
  subpages?: NavigationEntry[];
};

/** One line of the contents list of a page: a heading of level 2 or 3. */
export type ContentsEntry = { id: string; text: string; level: 2 | 3 };

/** A place to go from a page: one beside it in the one fixed order of all pages, or a folder it lies in. */
export type Neighbour = { route: string; label: string };

/** A run of characters with one colour; no class means the colour of ordinary text. */
export type Token = { text: string; class?: string };

/** A piece of code that an operation shows, coloured. */
export type HighlightedCode = { language: string; code: string; lines: Token[][] };

/** A picture as the page shows it: inlined markup, or the address and size of a file. */
export type Picture = { markup: string } | { url: string; width: number; height: number };

/** When the text of a page last changed: for machines (RFC 3339) and for readers. */
export type LastUpdated = { iso: string; text: string };

/** What every page has, inside and outside the documentation. */
export type PlainPage = {
  /** The address, such as `/docs/get-started/quickstarts/overview` or `/terms`. */
  route: string;
  title: string;
  intro: string;
  body: RenderableTreeNodes;
};

/** A page of the documentation. */
export type DocsPage = PlainPage & {
  label: string;
  /** The folders the page lies in, outermost first, each with the address that shows its own or its first page. */
  section: Neighbour[];
  /** Words that readers use for the matter of the page and that the page does not; the search knows them. */
  keywords?: string;
  /** The version badge: the release this page speaks of, when it speaks of one. */
  version?: string;
  contents: ContentsEntry[];
  /** Absent where the history does not tell. */
  lastUpdated?: LastUpdated;
  previous?: Neighbour;
  next?: Neighbour;
};

/** Routes of pages without content of their own: no list names them, and nothing finds them. */
export const UNLISTED_ROUTES: ReadonlySet<string> = new Set(['/404', '/error', '/search']);

/** What the build knows of its own files, so that a page can name them. */
export type Assets = {
  /** The style sheet of every page; it is inlined. */
  css: string;
  /** What only some pages need beside it, inlined in a page that `usedBy` finds something in. */
  sheets: { css: string; usedBy: RegExp }[];
  /** The address of the module script with all small islands. */
  script: string;
  /** Inline scripts by name; each text is also listed by hash in csp.json. */
  inline: { head: string; tabs: string; speculation: string };
};

/** What the renderer is given: one page with all that surrounds it. */
export type View =
  | { kind: 'docs'; page: DocsPage; navigation: NavigationEntry[]; assets: Assets }
  | { kind: 'plain'; page: PlainPage; assets: Assets }
  | { kind: 'home'; firstPage: Neighbour; assets: Assets };
