import { buildPath } from '@switchyard/contract/client.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { formatVisibleJson } from '../content/json-text.ts';
import type { FormRequest } from './curl.ts';

/** Quotes a text for Python. JSON is nearly Python: only an unpaired surrogate has another meaning, and it is escaped in both. */
export function quotePython(text: string): string {
  return JSON.stringify(text);
}

/** Returns a Python program that sends the requests in order and needs no package. URL and token are environment variables. */
export function formatPython(...requests: readonly FormRequest[]): string {
  const calls = requests.map(([id, { params, body }]) => {
    const { method, path } = operations[id];
    const values = [
      method,
      buildPath({ path }, params),
      ...(body === undefined ? [] : [formatVisibleJson(body)]),
    ];
    return `print(call(${values.map(quotePython).join(', ')}))`;
  });
  return [
    'import os',
    'from urllib.request import Request, urlopen',
    '',
    '',
    'def call(method, path, body=None):',
    '    headers = {"Authorization": "Bearer " + os.environ["SWITCHYARD_TOKEN"], "Content-Type": "application/json"}',
    '    data = None if body is None else body.encode()',
    '    request = Request(os.environ["SWITCHYARD_URL"] + path, data, headers, method=method)',
    '    with urlopen(request) as response:',
    '        return response.read().decode()',
    '',
    '',
    ...calls,
  ].join('\n');
}
