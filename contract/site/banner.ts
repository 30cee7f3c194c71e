/**
 * The announcement at the top of the documentation. It is a JSON file of its own, so that it changes without a build.
 */

/** Path of the file on the server. */
export const BANNER_PATH = '/banner.json';
/** How long a page caches the banner, in milliseconds. */
export const BANNER_CACHE_MS = 86_400_000;

/** The content of the banner file. */
export interface Banner {
  /** Text of the link. */
  actionLabel: string;
  /** The announcement, in one sentence. */
  description: string;
  /** Target of the link: an http or https URL, or a path of this site. */
  url: string;
  /** Tooltip of the link. */
  urlAttributeTitle: string;
}
