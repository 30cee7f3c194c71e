import type { SearchResponse } from '@switchyard/contract/site/search.ts';

const CACHED_RESPONSES_MAX = 50;

/** Sends queries to the search of the server, or the one that its settings name, and caches the responses. */
export class SearchClient {
  readonly #responses = new Map<string, SearchResponse>();

  /** Returns the cached response. */
  find(query: string): SearchResponse | undefined {
    return this.#responses.get(query);
  }

  /** Fetches the response and caches it. Throws when the search fails or the signal aborts. */
  async fetch(query: string, signal: AbortSignal): Promise<SearchResponse> {
    const address = new URL(document.body.dataset.search ?? '', location.href);
    address.searchParams.set('q', query);
    const response = await fetch(address, { signal, headers: { accept: 'application/json' } });
    const body: Partial<SearchResponse> = await response.json();
    signal.throwIfAborted();
    if (!response.ok || !Array.isArray(body.hits)) throw new Error(`The search returned ${response.status}.`);
    const result = { query, hits: body.hits, marks: body.marks ?? [] };
    if (this.#responses.size >= CACHED_RESPONSES_MAX) this.#responses.clear();
    this.#responses.set(query, result);
    return result;
  }
}
