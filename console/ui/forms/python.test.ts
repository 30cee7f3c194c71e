/** Requests as programs in Python. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { formatPython } from './python.ts';

test('a program sends method, address and token, and every character of a body as it is', () => {
  const body = { name: 'it\'s "quoted" \\ \n new line \u2028 ü 🚚', numbers: [1e-9, null, true] };
  const program = formatPython(['createBatchExperiment', { params: { application_id: "a'b c" }, body }]);
  const stub = [
    'import os, urllib.request',
    'os.environ.update(SWITCHYARD_URL="http://host", SWITCHYARD_TOKEN="token")',
    'def open_url(request):',
    '    print(request.method, request.full_url, request.get_header("Authorization"))',
    '    print(request.data.decode())',
    '    raise SystemExit',
    'urllib.request.urlopen = open_url',
  ].join('\n');
  const output = execFileSync('python3', ['-c', `${stub}\n${program}`], { encoding: 'utf8' });
  const [line, ...sent] = output.split('\n');
  expect(line).toBe("POST http://host/v1/applications/a'b%20c/experiments/batch Bearer token");
  expect(JSON.parse(sent.join('\n'))).toEqual(body);
});
