/** Parses banner files and the copies that browsers cache. Pure. */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { BANNER_CACHE_MS, type Banner } from '@switchyard/contract/site/banner.ts';

/** A cached banner; null for a file without one. `fetchedAt` is in milliseconds since 1970. */
export type CachedBanner = { fetchedAt: number; banner: Banner | null };

const CHARS_MAX = 300;

/** Returns the banner; null when the file is null, undefined when it is invalid. `base` is the page's address. */
export function parseBanner(value: unknown, base: string): Banner | null | undefined {
  if (value === null) return null;
  if (typeof value !== 'object') return undefined;
  const fields: { [K in keyof Banner]?: unknown } = value;
  const { actionLabel, description, url, urlAttributeTitle } = fields;
  if (!isText(actionLabel) || !isText(description) || !isText(urlAttributeTitle)) return undefined;
  if (typeof url !== 'string' || !isSafe(url, base)) return undefined;
  return { actionLabel, description, url, urlAttributeTitle };
}

/** Returns the cached banner; undefined when there is none, or it is invalid or expired. */
export function parseCachedBanner(text: string | null, now: number, base: string): CachedBanner | undefined {
  if (text === null) return undefined;
  try {
    const cached: unknown = JSON.parse(text);
    const { fetchedAt, banner } = isRecord(cached) ? cached : {};
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

/** A `javascript:` or `data:` link would run code of the banner's author. */
function isSafe(url: string, base: string): boolean {
  return URL.canParse(url, base) && /^https?:$/.test(new URL(url, base).protocol);
}
