/** The announcement in the head of the documentation: a JSON file of its own, so that it changes without a build. */

/** Where the server's own file is. */
export const BANNER_PATH = '/banner.json';
/** How long a page shows what it has fetched, in milliseconds. */
export const BANNER_CACHE_MS = 86_400_000;

export interface Banner {
  /** What the link says. */
  actionLabel: string;
  /** The announcement, in one sentence. */
  description: string;
  /** Where the link leads: an http or https address, or a path of this site. */
  url: string;
  /** What the link says to who points at it. */
  urlAttributeTitle: string;
}
