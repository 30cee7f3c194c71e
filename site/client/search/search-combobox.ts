/**
 * The search box in use: a combobox with the hits for its text. It sends a query once the reader stops typing and cancels
 * the one before it. An empty box shows the hits opened before.
 */
import './search-combobox.css';
import type { SearchResponse } from '@switchyard/contract/site/search.ts';
import { readRecentHits } from './recent-hits.ts';
import { ResultList } from './result-list.ts';

const CACHED_RESPONSES_MAX = 50;

/** Sends queries to the search of the server, or the one that its settings name, and caches the responses. */
class SearchClient {
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

const TYPING_PAUSE_MS = 120;
const SLOW_MS = 800;
const QUERY_CHARS_MIN = 2;

class SearchCombobox {
  readonly #form: HTMLFormElement;
  readonly #input: HTMLInputElement;
  readonly #list: ResultList;
  readonly #status = document.createElement('p');
  readonly #client = new SearchClient();
  /** The query whose hits are in the list; null while the list is empty. */
  #listedQuery: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | undefined;

  constructor(form: HTMLFormElement, input: HTMLInputElement) {
    this.#form = form;
    this.#input = input;
    this.#list = new ResultList(input);
    // Always in the document, because screen readers announce changes of an existing element only.
    this.#status.className = 'search-status';
    this.#status.role = 'status';
    form.append(this.#list.element, this.#status);
  }

  start(): void {
    this.#input.addEventListener('input', (event) => {
      // An input method has not finished its word yet.
      if (!(event instanceof InputEvent && event.isComposing)) this.#update();
    });
    this.#input.addEventListener('compositionend', () => this.#update());
    this.#input.addEventListener('focus', () => this.#update());
    this.#input.addEventListener('keydown', (event) => this.#handleKey(event));
    this.#form.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && this.#form.contains(relatedTarget)) return;
      this.#clear();
    });
    this.#update();
  }

  #readQuery(): string {
    return this.#input.value.trim().replace(/\s+/g, ' ');
  }

  #update(): void {
    const query = this.#readQuery();
    this.#cancelRequest();
    if (query === '') return this.#showRecentHits();
    if (query.length < QUERY_CHARS_MIN) return this.#clear();
    const cached = this.#client.find(query);
    if (this.#listedQuery === query) return this.#show(cached ?? { query, hits: [], marks: [] });
    this.#timer = setTimeout(() => void this.#search(query), cached ? 0 : TYPING_PAUSE_MS);
  }

  async #search(query: string): Promise<void> {
    const cached = this.#client.find(query);
    if (cached) return this.#show(cached);
    this.#request = new AbortController();
    const { signal } = this.#request;
    this.#timer = setTimeout(() => {
      if (!this.#list.isOpen) this.#setStatus('Searching …', true);
    }, SLOW_MS);
    try {
      const response = await this.#client.fetch(query, signal);
      clearTimeout(this.#timer);
      this.#show(response);
    } catch {
      if (signal.aborted) return;
      this.#clear();
      this.#setStatus('The search does not respond. Press Enter to try again.', true);
    }
  }

  #show({ query, hits, marks }: SearchResponse): void {
    const count = this.#list.fill('Search results', hits, marks ?? []);
    this.#listedQuery = query;
    if (count === 0) {
      this.#list.close();
      return this.#setStatus(`No results for ${query}`, true);
    }
    this.#setStatus(count === 1 ? '1 result' : `${count} results`, false);
    this.#list.open();
    this.#list.activate(0);
  }

  /** No hit is active, so Enter in the empty box still does nothing. */
  #showRecentHits(): void {
    this.#clear();
    const count = this.#list.fill('Recently opened', readRecentHits(), []);
    this.#listedQuery = '';
    if (count === 0) return;
    this.#setStatus(count === 1 ? '1 place opened before' : `${count} places opened before`, false);
    this.#list.open();
  }

  #clear(): void {
    this.#cancelRequest();
    this.#list.close();
    this.#list.fill('Search results', [], []);
    this.#listedQuery = null;
    this.#setStatus('', false);
  }

  #cancelRequest(): void {
    clearTimeout(this.#timer);
    this.#request?.abort();
  }

  #setStatus(text: string, isVisible: boolean): void {
    this.#status.textContent = text;
    this.#status.toggleAttribute('data-visible', isVisible);
  }

  #handleKey(event: KeyboardEvent): void {
    // Safari ends a composition before it sends the key that ended it, with this code.
    const isComposing = event.isComposing || event.keyCode === 229;
    if (isComposing || !this.#list.isOpen) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      return this.#list.move(event.key);
    }
    // If the query has changed since, Enter submits the form, which loads the page of results.
    if (event.key !== 'Enter' || this.#listedQuery !== this.#readQuery()) return;
    if (this.#list.followActive()) event.preventDefault();
  }
}

/** Turns the search box into a combobox. */
export function startSearchCombobox(form: HTMLFormElement, input: HTMLInputElement): void {
  new SearchCombobox(form, input).start();
}
