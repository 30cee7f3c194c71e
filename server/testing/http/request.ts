/** Sends HTTP requests and returns responses of every status. */

export interface TestResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The body parsed as JSON; undefined when it is not JSON. */
  body: unknown;
}

export interface RequestOptions {
  /** undefined: the default token; null: no token. */
  token?: string | null;
  /** An object is sent as JSON, text and bytes unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends a request; resolves for every status. `token` is the default token. */
export async function sendRequest(
  url: string,
  method: string,
  token: string,
  options: RequestOptions,
): Promise<TestResponse> {
  const bearer = options.token === undefined ? token : options.token;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: formatBody(options.body) }),
  });
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const text = isStream ? await readFirstBytes(response) : await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

/** Reads the beginning of a stream, which may have no end, and closes it. */
async function readFirstBytes({ body }: Response): Promise<string> {
  for await (const bytes of body ?? []) return new TextDecoder().decode(bytes);
  return '';
}

function formatBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
