/**
 * Sends a request whose body is observed while it leaves. `fetch` reports no progress: browsers send a stream as its body by
 * HTTP/2 alone.
 */

/** Bytes that do not flow for this long are lost. The server gives up on a body that is as slow, too. */
const STALLED_BODY_MS = 30_000;
/** The response to a last part comes after the server has joined all parts, which takes seconds for 500 MB. */
const MISSING_RESPONSE_MS = 120_000;
const NO_CONTENT = 204;

/** The server was not reached, or its response was lost: the effect of the request is unknown. */
export class ConnectionLostError extends Error {
  constructor() {
    super('The connection to the server was lost.');
  }
}

/**
 * Sends a request as `fetch` does, and reports the number of sent bytes of its body. Throws ConnectionLostError without a
 * response, also when nothing has moved for 30 seconds and when the browser goes offline.
 */
export function sendWithProgress(
  url: string,
  { method = 'GET', headers, body, signal }: RequestInit,
  onProgress: (bytes: number) => void = () => {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const lose = () => end(() => reject(new ConnectionLostError()));
    const timer = new Countdown(lose);
    const cancel = () => end(() => reject(signal?.reason));
    const end = (report: () => void) => {
      timer.stop();
      signal?.removeEventListener('abort', cancel);
      removeEventListener('offline', lose);
      report();
      request.abort();
    };
    request.upload.onprogress = ({ loaded }) => {
      timer.start(STALLED_BODY_MS);
      onProgress(loaded);
    };
    request.upload.onload = () => timer.start(MISSING_RESPONSE_MS);
    request.onload = () => end(() => resolve(readResponse(request)));
    request.onerror = lose;
    request.open(method, url);
    for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value);
    if (signal?.aborted) return cancel();
    signal?.addEventListener('abort', cancel);
    // A connection of a network that is away hangs, also when another network follows.
    addEventListener('offline', lose);
    const content = body instanceof Blob ? body : null;
    timer.start(content?.size === 0 ? MISSING_RESPONSE_MS : STALLED_BODY_MS);
    request.send(content);
  });
}

function readResponse({ status, responseText }: XMLHttpRequest): Response {
  return new Response(status === NO_CONTENT ? null : responseText, { status });
}

/** A timer that starts again while something moves. */
class Countdown {
  readonly #onEnd: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  start(ms: number): void {
    this.stop();
    this.#timer = setTimeout(this.#onEnd, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
