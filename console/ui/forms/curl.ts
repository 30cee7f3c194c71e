import { buildPath } from '@switchyard/contract/client.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { formatVisibleJson } from '../content/json-text.ts';
import { quoteShell } from './quote-shell.ts';

/** The parts of a request that a command or a program shows. */
export interface CurlRequest {
  params?: Record<string, string>;
  body?: unknown;
}

/** An operation and its request. */
export type FormRequest = readonly [id: OperationId, request: CurlRequest];

/** Returns the command that sends the request of an operation. URL and token are variables of the shell. */
export function formatCurl(
  id: OperationId,
  { params, query, body }: CurlRequest & { query?: Record<string, string> },
): string {
  const { method, path } = operations[id];
  const address = [buildPath({ path }, params), new URLSearchParams(query)].filter(String).join('?');
  const parts = [
    `curl -X ${method} "$SWITCHYARD_URL"${quoteShell(address)}`,
    '-H "Authorization: Bearer $SWITCHYARD_TOKEN"',
  ];
  if (body !== undefined)
    parts.push("-H 'Content-Type: application/json'", `-d ${quoteShell(formatVisibleJson(body))}`);
  return parts.join(' \\\n  ');
}
