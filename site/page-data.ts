/**
 * The data of the components. The generator computes it once while it reads the content; a component only displays it.
 */
import type { RenderableTreeNodes } from '@markdoc/markdoc';

/** One entry of the navigation tree: a page, a folder of pages, or a link that leaves the site. */
export type NavigationEntry = {
  /** The last part of the address; unique among its neighbours. */
  slug: string;
  /** The title of the page, or the name of the folder or task. */
  label: string;
  navOrder: number;
  /** The address of the page; absent for a folder that has no page of its own. */
  route?: string;
  externalUrl?: string;
  subpages?: NavigationEntry[] | undefined;
};

/** One line of the contents list of a page: a heading of level 2 or 3. An operation of the API has its method. */
export type ContentsEntry = { id: string; text: string; level: 2 | 3; method?: string };

/** A link target of a page: its neighbour in the fixed order of all pages, or a folder around it. */
export type Neighbour = { route: string; label: string };

/** A run of characters with one colour; no class means the colour of ordinary text. */
export type Token = { text: string; class?: string };

/** A piece of code that an operation shows, coloured. */
export type HighlightedCode = { language: string; code: string; lines: Token[][] };

/** A picture of a page: inlined markup, or the addresses and the size of a file in pixels. */
export type Picture =
  | { markup: string }
  | {
      url: string;
      /** The same picture for the dark theme, where there is one. */
      darkUrl?: string;
      width: number;
      height: number;
    };

/** When the text of a page last changed: for machines (RFC 3339) and for readers. */
export type LastUpdated = { iso: string; text: string };

/** A page outside the documentation; pages of the documentation have these fields too. */
export type PlainPage = {
  /** The address, such as `/docs/get-started/quickstarts/overview` or `/terms`. */
  route: string;
  title: string;
  intro: string;
  body: RenderableTreeNodes;
};

/** A page of the documentation. */
export type DocsPage = PlainPage & {
  /** The entries of the navigation around the page, outermost first. The route of an entry is that of its page, or of the first page below it. */
  section: Neighbour[];
  /** Words that readers use for the subject of the page and that the page does not; the search indexes them. */
  keywords?: string;
  /** The version badge: the release that this page describes. */
  version?: string;
  contents: ContentsEntry[];
  /** Absent when the history does not have it. */
  lastUpdated?: LastUpdated;
  previous?: Neighbour;
  next?: Neighbour;
};

/** Routes of pages without content of their own, which neither lists nor the search contain. */
export const UNLISTED_ROUTES: ReadonlySet<string> = new Set(['/404', '/error', '/search']);

/** The styles and scripts of the build, as pages use them. */
export type Assets = {
  /** The style sheet of every page; it is inlined. */
  css: string;
  /** Style sheets for some pages only, inlined in a page whose HTML matches `usedBy`. */
  sheets: { css: string; usedBy: RegExp }[];
  /** The address of the module script with all small islands. */
  script: string;
  /** Inline scripts by name; each text is also listed by hash in csp.json. */
  inline: { head: string; tabs: string; speculation: string };
};

/** The input of the renderer: one page with its frame. */
export type View =
  | { kind: 'docs'; page: DocsPage; navigation: NavigationEntry[]; assets: Assets }
  | { kind: 'plain'; page: PlainPage; assets: Assets }
  | { kind: 'home'; firstPage: Neighbour; assets: Assets };
