/** The address by which the caller of the present request reaches the server, when it is not the public one. */
import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * An app in a sandbox reaches the server at an address that exists in the sandbox alone. Signed URLs in the responses to it
 * must begin with that address. They are created far below the handler, so the address is in the context of the request.
 */
export class RequestEndpoint {
  readonly #storage = new AsyncLocalStorage<string>();

  /** Runs the work of a request; `endpoint` is undefined for a caller that uses the public address. */
  run<T>(endpoint: string | undefined, work: () => T): T {
    return endpoint === undefined ? work() : this.#storage.run(endpoint, work);
  }

  /** The address of the caller of the present request, without a trailing slash; undefined for the public one. */
  get current(): string | undefined {
    return this.#storage.getStore();
  }
}
