/**
 * The announcement in the header. The browser fetches it once a day and caches it in between. A fetch that fails, or
 * returns something else, clears the cache. Its place is in the page from the start, so the layout does not shift.
 */
import { readStorage, writeStorage } from '../storage.ts';
import { type CachedBanner, parseBanner, parseCachedBanner } from './parse-banner.ts';

/** A banner is four short texts; a longer or slower response is not one. */
const BYTES_MAX = 16_384;
const FETCH_MS = 10_000;

const CACHE = 'banner';
const DISMISSED = 'banner-dismissed';

/** Shows the current announcement, unless there is none or the reader has dismissed it. */
export async function startBanner(): Promise<void> {
  const place = document.querySelector<HTMLElement>('[data-banner-place]');
  const address = document.body.dataset.banner;
  if (!place || !address) return;
  const { banner } =
    parseCachedBanner(readStorage(CACHE), Date.now(), location.href) ?? (await fetchBanner(address));
  if (banner === null || readStorage(DISMISSED) === JSON.stringify(banner)) return;

  const { showBanner } = await import('./banner-view.ts');
  showBanner(place, banner, () => writeStorage(DISMISSED, JSON.stringify(banner)));
}

async function fetchBanner(address: string): Promise<Pick<CachedBanner, 'banner'>> {
  try {
    const response = await fetch(address, {
      cache: 'no-cache',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_MS),
    });
    const content: unknown = JSON.parse(await readText(response));
    const banner = parseBanner(content, location.href);
    if (!response.ok || banner === undefined) throw new Error('The response is not a banner.');
    writeStorage(CACHE, JSON.stringify({ fetchedAt: Date.now(), banner } satisfies CachedBanner));
    return { banner };
  } catch {
    writeStorage(CACHE, undefined);
    return { banner: null };
  }
}

/** Reads the body as text; throws when it is longer than BYTES_MAX characters. */
async function readText({ body }: Response): Promise<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += part.value;
    if (text.length > BYTES_MAX) {
      await reader?.cancel();
      throw new Error(`The banner is longer than ${BYTES_MAX} characters.`);
    }
  }
  return text;
}
