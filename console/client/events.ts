/**
 * Subscriptions to the event streams of the API. A lost connection is opened again and continues after the last event. A
 * hidden page closes its stream, because a browser opens six connections to a server in all tabs together.
 */
import { ApiError } from '@switchyard/contract/client.ts';
import { type ReceivedEvent, readEvents } from '@switchyard/contract/read-events.ts';
import { useEffect, useRef } from 'react';

const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 15_000;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR_MIN = 500;

/** The extras of a request that opens a stream. */
interface StreamExtras {
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** Opens a stream by an operation of the client. A response without a body says that nothing follows. */
type OpenStream = (extras: StreamExtras) => Promise<{ body: ReadableStream<Uint8Array> | undefined }>;

interface Subscription {
  open: OpenStream;
  onEvent: (event: ReceivedEvent) => void;
  /** Is called with true at the first event of each connection, before `onEvent`, and with false when it has ended. */
  onConnection?: (isOpen: boolean) => void;
}

/**
 * Calls back for each event of the stream until it is complete, is refused, or the component is unmounted. null opens none.
 * A new value of `key` begins a new stream.
 */
export function useEvents(key: string | null, subscription: Subscription): void {
  const current = useRef(subscription);
  useEffect(() => {
    current.current = subscription;
  });
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    void follow(
      {
        open: (extras) => current.current.open(extras),
        onEvent: (event) => current.current.onEvent(event),
        onConnection: (isOpen) => current.current.onConnection?.(isOpen),
      },
      abort.signal,
    );
    return () => abort.abort();
  }, [key]);
}

async function follow(
  { open, onEvent, onConnection }: Required<Subscription>,
  signal: AbortSignal,
): Promise<void> {
  let lastId = '';
  let retryMs = RETRY_MIN_MS;
  while (!signal.aborted) {
    await waitUntilVisible(signal);
    const hidden = abortWhenHidden(signal);
    try {
      const headers: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
      const { body } = await open({ headers, signal: hidden.signal });
      if (!body) return;
      for await (const event of readEvents(body)) {
        onConnection(true);
        lastId = event.id;
        retryMs = RETRY_MIN_MS;
        onEvent(event);
      }
    } catch (error) {
      if (isFinalRefusal(error)) return;
    } finally {
      onConnection(false);
      hidden.stop();
    }
    if (!signal.aborted && !document.hidden) await wait(retryMs, signal);
    retryMs = Math.min(RETRY_MAX_MS, retryMs * 2);
  }
}

/** Returns true for a response that a repetition does not change, such as the 404 of a deleted run. */
function isFinalRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status < SERVER_ERROR_MIN && error.status !== TOO_MANY_REQUESTS;
}

/** Returns a signal that also aborts when the page is hidden, and the function that ends watching for it. */
function abortWhenHidden(signal: AbortSignal): { signal: AbortSignal; stop: () => void } {
  const abort = new AbortController();
  const check = () => {
    if (document.hidden || signal.aborted) abort.abort();
  };
  document.addEventListener('visibilitychange', check);
  signal.addEventListener('abort', check);
  return {
    signal: abort.signal,
    stop() {
      document.removeEventListener('visibilitychange', check);
      signal.removeEventListener('abort', check);
    },
  };
}

function waitUntilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const check = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    signal.addEventListener('abort', check, { once: true });
  });
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
