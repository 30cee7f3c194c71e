/** What a banner file and the copy a browser keeps of it may say. Pure. */
import { BANNER_CACHE_MS, type Banner } from '@switchyard/contract/site/banner.ts';

/** The copy a browser keeps: null for a file that says there is no banner. */
export type CachedBanner = { fetchedAt: number; banner: Banner | null };

const CHARS_MAX = 300;

/** A banner as it was fetched; null when the file is null, undefined when it is not one. `base` is the page's address. */
export function parseBanner(value: unknown, base: string): Banner | null | undefined {
  if (value === null) return null;
  if (typeof value !== 'object') return undefined;
  const { actionLabel, description, url, urlAttributeTitle } = value as Record<string, unknown>;
  if (!isText(actionLabel) || !isText(description) || !isText(urlAttributeTitle)) return undefined;
  if (typeof url !== 'string' || !isSafe(url, base)) return undefined;
  return { actionLabel, description, url, urlAttributeTitle };
}

/** The kept copy, or undefined when there is none, it is not one, or its time is over. */
export function parseCachedBanner(text: string | null, now: number, base: string): CachedBanner | undefined {
  if (text === null) return undefined;
  try {
    const { fetchedAt, banner }: { fetchedAt?: unknown; banner?: unknown } = JSON.parse(text) ?? {};
    const known = parseBanner(banner, base);
    if (typeof fetchedAt !== 'number' || known === undefined) return undefined;
    const age = now - fetchedAt;
    return age >= 0 && age < BANNER_CACHE_MS ? { fetchedAt, banner: known } : undefined;
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= CHARS_MAX;
}

/** A link that a browser follows to a page, and that runs nothing. */
function isSafe(url: string, base: string): boolean {
  return URL.canParse(url, base) && /^https?:$/.test(new URL(url, base).protocol);
}
