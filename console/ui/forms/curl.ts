import { buildPath } from '@switchyard/contract/client.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { quoteShell } from './quote-shell.ts';

/** The parts of a request that a command for a terminal shows. */
export interface CurlRequest {
  params?: Record<string, string>;
  body?: unknown;
}

/** Returns the command that sends the request of an operation. URL and token are variables of the shell. */
export function formatCurl(id: OperationId, { params, body }: CurlRequest): string {
  const { method, path } = operations[id];
  const parts = [
    `curl -X ${method} "$SWITCHYARD_URL"${quoteShell(buildPath({ path }, params))}`,
    '-H "Authorization: Bearer $SWITCHYARD_TOKEN"',
  ];
  if (body !== undefined)
    parts.push("-H 'Content-Type: application/json'", `-d ${quoteShell(JSON.stringify(body))}`);
  return parts.join(' \\\n  ');
}
