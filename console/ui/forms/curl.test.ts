/** Commands for a terminal. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { formatCommand } from './command-line.ts';
import { formatCurl } from './curl.ts';

/** Returns the arguments that a shell gives to the program. */
function parseWithShell(command: string, program = 'curl'): string[] {
  const script = `${program}() { printf '%s\\0' "$@"; }\n${command}`;
  const env = { SWITCHYARD_URL: 'http://host', SWITCHYARD_TOKEN: 'token' };
  return execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}

test('a shell reads every character of a body as it is', () => {
  const body = { name: 'it\'s "quoted" $HOME `id` \\ \n new line' };
  expect(parseWithShell(formatCurl('createKey', { body }))).toEqual([
    '-X',
    'POST',
    'http://host/v1/account/keys',
    '-H',
    'Authorization: Bearer token',
    '-H',
    'Content-Type: application/json',
    '-d',
    JSON.stringify(body),
  ]);
});

test('invisible characters of a body are escapes, which mean the same', () => {
  const body = { name: 'a\u202eb\u2066c\u0085d\u{e0041}' };
  const command = formatCurl('createKey', { body });
  expect(command).toContain('a\\u202eb\\u2066c\\u0085d\\udb40\\udc41');
  expect(JSON.parse(parseWithShell(command).at(-1) ?? '')).toEqual(body);
});

test('a command without a body has the path with its parameters', () => {
  expect(parseWithShell(formatCurl('deleteApplication', { params: { application_id: "a'b c" } }))).toEqual([
    '-X',
    'DELETE',
    "http://host/v1/applications/a'b%20c",
    '-H',
    'Authorization: Bearer token',
  ]);
});

test('the command of switchyard has the application, the parameters and the body', () => {
  const body = { name: 'it\'s "quoted" $HOME `id`' };
  const params = { application_id: 'routing', instance_id: "a'b" };
  expect(parseWithShell(formatCommand(['updateInstance', { params, body }]), 'switchyard')).toEqual([
    ...['api', 'updateInstance', '--app', 'routing', '--param', "instance_id=a'b"],
    ...['--data', JSON.stringify(body)],
  ]);
});
