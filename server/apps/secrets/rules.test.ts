/** Valid names, paths and values of secrets, tested through the API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApplication, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let path: string;
beforeAll(async () => {
  server = await startTestServer();
  path = `/v1/applications/${await createApplication(server)}/secrets`;
});
afterAll(() => server.close());

const create = (...secrets: unknown[]) => server.request('POST', path, { body: { secrets } });
const env = (location: string, value: unknown = 'x') => ({ type: 'env', location, value });
const file = (location: string, value: unknown = 'x') => ({ type: 'file', location, value });

describe('the location of a variable', () => {
  test.each(['KEY', 'key', '_key', 'a1', 'NEXTMV_API_KEY', 'PYTHONPATH', 'path', 'K'.repeat(256)])(
    '%s is taken',
    async (location) => expectStatus(await create(env(location)), 201),
  );

  test.each([
    ['', '0 characters'],
    ['K'.repeat(257), '257 characters'],
    ['A=B', 'letters, digits and underscores'],
    ['A\0', 'NUL'],
    ['A-B', 'letters, digits and underscores'],
    ['A B', 'letters, digits and underscores'],
    ['1A', 'letters, digits and underscores'],
    ['KEY\n', 'letters, digits and underscores'],
    ['SCHLÜSSEL', 'letters, digits and underscores'],
    ['PATH', 'the platform sets itself'],
    ['HOME', 'the platform sets itself'],
    ['NEXTMV_RUN_ID', 'the platform sets itself'],
    ['SWITCHYARD_RUN', 'the platform sets itself'],
    ['SWITCHYARD_PREVIOUS', 'the platform sets itself'],
    ['PYTHONUNBUFFERED', 'the platform sets itself'],
    ['UID', 'shells keep for themselves'],
    ['BASH_ENV', 'shells keep for themselves'],
  ])('%j is refused', async (location, words) => {
    expectError(await create(env('OTHER'), env(location)), 400, 'secrets.1.location', words);
  });
});

describe('the location of a file', () => {
  test.each([
    ...['key', 'keys/a.txt', './key', '.env', 'a b/ü 🚚', 'a..b', '/app/key', '/tmp/a/b', 'A=B', 'PATH'],
    'x'.repeat(255),
  ])('%s is accepted', async (location) => expectStatus(await create(file(location)), 201));

  test.each([
    ['', '0 characters'],
    ['a\0', 'NUL'],
    ['../key', '".."'],
    ['a/../../key', '".."'],
    ['/app/../etc/passwd', '".."'],
    ['keys/', 'the path of a file'],
    ['.', 'the path of a file'],
    ['a/.', 'the path of a file'],
    ['/', 'the path of a file'],
    ['/app', 'below /app/ or /tmp/'],
    ['/etc/key', 'below /app/ or /tmp/'],
    ['/application/key', 'below /app/ or /tmp/'],
    ['x'.repeat(256), '256 bytes'],
    [`a/${'🚚'.repeat(64)}`, '256 bytes'],
  ])('%j is refused', async (location, words) => {
    expectError(await create(file(location)), 400, 'secrets.0.location', words);
  });
});

describe('two secrets', () => {
  test.each([
    ['one variable twice', env('KEY'), env('KEY')],
    ['one file twice', file('a/b'), file('a/b')],
    ['one file in two spellings', file('a/b'), file('./a//b')],
    ['one absolute file in two spellings', file('/tmp/a'), file('/tmp/./a')],
  ])('%s are refused', async (_what, one, other) => {
    expectError(await create(one, env('X'), other), 400, 'secrets.2.location', 'secrets.0 has already');
  });

  test.each([
    ['before', file('a'), file('a/b'), 1],
    ['behind', file('a/b/c'), file('./a'), 0],
    ['in a folder of the sandbox', file('/app/a'), file('/app/a/b'), 1],
  ])('400 for a file that must be a folder for another secret, %s', async (_where, one, other, index) => {
    expectError(await create(one, other), 400, `secrets.${index}.location`, 'is below');
  });

  test('can differ in case, type or folder alone', async () => {
    const secrets = [env('KEY'), env('key'), file('KEY'), file('a/KEY'), file('/app/KEY'), file('/tmp/KEY')];
    expectStatus(await create(...secrets), 201);
  });

  test('64 are accepted, 65 refused', async () => {
    const many = Array.from({ length: 65 }, (_, index) => env(`KEY_${index}`));
    expectStatus(await create(...many.slice(0, 64)), 201);
    expectError(await create(...many), 400, 'secrets has 65 items', 'at most 64');
  });
});

describe('the value', () => {
  // é has two bytes in UTF-8, € three, 🚚 four.
  test.each([
    ['x', 1024],
    ['é', 512],
    ['€', 341],
    ['🚚', 256],
  ])('of %s can have %d characters and no more', async (character, most) => {
    expectStatus(await create(env('KEY', character.repeat(most))), 201);
    const response = await create(env('KEY', character.repeat(most + 1)));
    expectError(response, 400, 'secrets.0.value');
    expect(response.text).not.toContain(character);
  });

  test('above 1024 bytes is refused with its length in bytes', async () => {
    expectError(await create(env('KEY', '€'.repeat(342))), 400, '1026 bytes in UTF-8; a value may have 1024');
  });

  test('can contain NUL only in a file', async () => {
    expectError(await create(env('KEY', 'a\0b')), 400, 'secrets.0.value contains a NUL');
    expectStatus(await create(file('key', 'a\0b')), 201);
  });

  test.each([[123_456_789], [null], [true], ['y'.repeat(2000)], ['a\0hidden']])(
    'is not repeated in the error message for %j',
    async (value) => {
      const response = await create(env('KEY', value));
      expectError(response, 400, 'secrets.0.value');
      for (const part of ['123456789', 'true', 'yyy', 'hidden']) expect(response.text).not.toContain(part);
    },
  );
});
