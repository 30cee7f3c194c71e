/**
 * Requests to the identity provider. A provider that hangs, that sends an endless body or that redirects elsewhere must
 * cost this server no more than a failed sign-in.
 */

/** Discovery documents and key sets have a few kB; those of the largest providers 30 kB. */
const BODY_BYTES_MAX = 512 * 1024;

/** The part of a request that openid-client and jose set. */
interface ProviderRequest {
  method?: string;
  headers?: HeadersInit;
  body?: unknown;
  signal?: AbortSignal;
}

/**
 * Sends a request and reads its whole body. Throws when the signal of the request ends first, and for a body above the limit.
 */
export async function fetchFromProvider(url: string, request: ProviderRequest): Promise<Response> {
  const { method = 'GET', headers, body, signal } = request;
  const response = await fetch(url, {
    method,
    ...(headers ? { headers } : {}),
    ...(isFormBody(body) ? { body } : {}),
    ...(signal ? { signal } : {}),
    // A code or a secret goes to the endpoint of the discovery document alone.
    redirect: 'manual',
  });
  const { status } = response;
  return new Response(status === 204 || status === 304 ? null : await readBody(response, url), {
    status,
    headers: response.headers,
  });
}

function isFormBody(body: unknown): body is string | URLSearchParams {
  return typeof body === 'string' || body instanceof URLSearchParams;
}

async function readBody(response: Response, url: string): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the body and closes the connection.
    if (bytes > BODY_BYTES_MAX)
      throw new Error(`The response of ${new URL(url).origin} has more than ${BODY_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
