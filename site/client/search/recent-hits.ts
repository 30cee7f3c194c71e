/** The places that a reader opened from the search, the last one first. They never leave the browser. */
import type { SearchHit } from '@switchyard/contract/site/search.ts';
import { readStorage, writeStorage } from '../storage.ts';

const KEY = 'recent';
const MOST = 5;

/** What is kept may be from another version of the site, or have been changed by hand; what is no hit is left out. */
export function readRecentHits(): SearchHit[] {
  try {
    const kept: unknown = JSON.parse(readStorage(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isHit).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export function saveRecentHit(hit: SearchHit): void {
  const others = readRecentHits().filter(
    ({ slug, sectionId }) => slug !== hit.slug || sectionId !== hit.sectionId,
  );
  // The passage answered a question that is over.
  writeStorage(KEY, JSON.stringify([{ ...hit, content: '' }, ...others].slice(0, MOST)));
}

function isHit(value: unknown): value is SearchHit {
  const { slug, sectionId, sectionHeader, content, meta } = (value ?? {}) as Partial<SearchHit>;
  const texts = [slug, sectionId, sectionHeader, content, meta?.pageSection, meta?.pageTitle];
  return texts.every((text) => typeof text === 'string') && URL.canParse(String(slug), location.origin);
}
