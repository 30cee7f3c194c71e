import { formatVisibleJson } from '../content/json-text.ts';
import type { FormRequest } from './curl.ts';
import { quoteShell } from './quote-shell.ts';

/** Returns the command of `switchyard` that sends the request of a form. The server and its token are those of the profile. */
export function formatCommand([id, { params = {}, body }]: FormRequest): string {
  const { application_id: application, ...others } = params;
  const options = [
    ...(application === undefined ? [] : [`--app ${quoteShell(application)}`]),
    ...Object.entries(others).map(([name, value]) => `--param ${quoteShell(`${name}=${value}`)}`),
    ...(body === undefined ? [] : [`--data ${quoteShell(formatVisibleJson(body))}`]),
  ];
  return [`switchyard api ${id}`, ...options].join(' \\\n  ');
}
