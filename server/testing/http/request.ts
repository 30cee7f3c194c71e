/** One HTTP request as anyone makes it, answered whatever the status. */

export interface TestResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The body parsed as JSON, or undefined. */
  body: unknown;
}

export interface RequestOptions {
  /** undefined: the root token; null: none. */
  token?: string | null;
  /** An object is sent as JSON; text and bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Any request, with any status taken as an answer. */
export async function sendRequest(
  url: string,
  method: string,
  token: string,
  ask: RequestOptions,
): Promise<TestResponse> {
  const isRaw = typeof ask.body === 'string' || ask.body instanceof Uint8Array;
  const bearer = ask.token === undefined ? token : ask.token;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(ask.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...ask.headers,
    },
    ...(ask.body === undefined
      ? {}
      : { body: isRaw ? (ask.body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(ask.body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
