/**
 * The announcement in the header. It is fetched once a day and kept in between; a fetch that fails, or brings something
 * else than a banner, clears what was kept. Its place is there from the start, so nothing moves when it comes.
 */

import { readStorage, writeStorage } from '../storage.ts';
import { type CachedBanner, parseBanner, parseCachedBanner } from './parse-banner.ts';

/** A banner is four short texts; what is longer, or takes longer, is none. */
const BYTES_MAX = 16_384;
const FETCH_MS = 10_000;

const CACHE = 'banner';
const DISMISSED = 'banner-dismissed';

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
    const banner = parseBanner(JSON.parse(await textOf(response)), location.href);
    if (!response.ok || banner === undefined) throw new Error('This is no banner.');
    writeStorage(CACHE, JSON.stringify({ fetchedAt: Date.now(), banner } satisfies CachedBanner));
    return { banner };
  } catch {
    writeStorage(CACHE, undefined);
    return { banner: null };
  }
}

/** The text of an answer, which is given up where it gets too long. */
async function textOf({ body }: Response): Promise<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += part.value;
    if (text.length > BYTES_MAX) {
      await reader?.cancel();
      throw new Error('This is too long for a banner.');
    }
  }
  return text;
}
