/** Table tests of pure functions: raw fields, validation messages, page tokens, signed URLs, base64url. */
import { formatValidationError } from '@switchyard/contract/presentation/validation-messages.ts';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../clock.ts';
import { Encryptor } from '../database/encryption.ts';
import { systemRandom } from '../random.ts';
import { quoteValue } from './errors/problem.ts';
import { formatPageOrArray, PageTokens, parsePageRequest, slicePage } from './lists/pagination.ts';
import { decodeBase64Url } from './requests/base64url.ts';
import { extractRawField } from './requests/raw-json.ts';
import { UrlSigner } from './requests/signed-url.ts';

describe('the raw text of a field', () => {
  const raw = (json: string, name = 'input') => extractRawField(Buffer.from(json), name)?.toString();
  test.each([
    ['{"input":1.0}', '1.0'],
    ['{"input": 12345678901234567890 }', '12345678901234567890'],
    ['{"a":1,"input":[1,{"input":2}],"b":3}', '[1,{"input":2}]'],
    ['{"a":{"input":1}}', undefined],
    ['{"a":["input",1]}', undefined],
    ['{"a":"input","b":1}', undefined],
    ['{"a":"\\"input\\":1","input":2}', '2'],
    ['{"a":"\\\\","input":2}', '2'],
    ['{"input":"a,b}:{\\"c"}', '"a,b}:{\\"c"'],
    ['{"in\\u0070ut":{"x":1}}', '{"x":1}'],
    ['{"input":1,"input":2}', '2'],
    ['{"input":1,"in\\u0070ut":[2]}', '[2]'],
    ['{ \n\t"input"\r\n:\n[ 1 , 2 ]\n}', '[ 1 , 2 ]'],
    ['{"input":{}}', '{}'],
    ['{"input":null}', 'null'],
    ['{"input":"🚚 ä"}', '"🚚 ä"'],
    ['\ufeff{"input":1}', '1'],
    ['{}', undefined],
    ['{"":1}', undefined],
  ])('input in %j is %j', (json, expected) => {
    expect(raw(json)).toBe(expected);
  });

  test('equals the value that JSON.parse reads, for random objects', () => {
    const names = fc.constantFrom('input', 'a', '', '"', '\\', 'in', '🚚', 'input ');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(names, fc.jsonValue()), { maxLength: 6 }),
        fc.constantFrom('', ' ', '\n  '),
        (entries, space) => {
          const members = entries.map(
            ([name, value]) =>
              `${space}${JSON.stringify(name)}${space}:${space}${JSON.stringify(value)}${space}`,
          );
          const json = `${space}{${members.join(',')}}${space}`;
          const whole = JSON.parse(json) as Record<string, unknown>;
          const rawText = raw(json);
          expect(rawText === undefined ? undefined : JSON.parse(rawText)).toEqual(whole.input);
        },
      ),
      { seed: 1, numRuns: 500 },
    );
  });
});

describe('the validation message about', () => {
  const schema = {
    type: 'object',
    required: ['name'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', minLength: 3, maxLength: 5 },
      count: { type: 'integer', minimum: 1, maximum: 9 },
      kind: { type: 'string', enum: ['a', 'b', null], nullable: true },
      list: { type: 'array', items: { type: 'boolean' }, maxItems: 2 },
      map: { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
      nested: { type: 'object', properties: { 'a/b~c': { type: 'object' } } },
      goal: {
        anyOf: [
          { type: 'string', enum: ['up', 'down'] },
          { type: 'object', properties: { share: { type: 'number', maximum: 1 } } },
        ],
      },
    },
  };
  const validate = new Ajv({ strict: false, verbose: true }).compile(schema);
  test.each([
    [{}, 'name is missing; it is required.'],
    [
      { nmae: 'abc' },
      'nmae is not a field of this request; did you mean "name"? The fields are name, count, kind, list, map, nested, goal.',
    ],
    [{ name: 'ab' }, 'name is "ab", 2 characters long; it must have 3 to 5 characters.'],
    [{ name: '🚚🚚🚚🚚🚚🚚' }, 'name is "🚚🚚🚚🚚🚚🚚", 6 characters long; it must have 3 to 5 characters.'],
    [{ name: null }, 'name is null; it must be text.'],
    [{ name: 'abc', count: 0 }, 'count is 0; it must be 1 to 9.'],
    [{ name: 'abc', count: 1.5 }, 'count is 1.5; it must be a whole number.'],
    [{ name: 'abc', count: '1' }, 'count is "1"; it must be a whole number.'],
    [{ name: 'abc', kind: 'c' }, 'kind is "c"; it must be one of a, b.'],
    [{ name: 'abc', list: [true, 1] }, 'list.1 is 1; it must be true or false.'],
    [{ name: 'abc', list: [true, true, true] }, 'list has 3 items; it must have at most 2.'],
    [{ name: 'abc', list: {} }, 'list is a JSON object; it must be a JSON array.'],
    [{ name: 'abc', map: { x: [] } }, 'map.x is a JSON array of 0; it must be text or a number.'],
    [{ name: 'abc', nested: { 'a/b~c': 1 } }, 'nested.a/b~c is 1; it must be a JSON object.'],
    [{ name: 'abc', goal: 1 }, 'goal is 1; it must be text or a JSON object.'],
    [{ name: 'abc', goal: 'left' }, 'goal is "left"; it must be one of up, down.'],
    [{ name: 'abc', goal: { share: 2 } }, 'goal.share is 2; it must be at most 1.'],
    [[], 'The body is a JSON array of 0; it must be a JSON object.'],
  ])('%j says "%s"', (body, message) => {
    validate(body);
    expect(formatValidationError(validate.errors ?? [], 'body')).toBe(message);
  });

  test('a long name or value is truncated, but never inside a character', () => {
    for (const length of [70, 77, 78, 79, 80, 81]) {
      const text = `${'x'.repeat(length)}${'🚚'.repeat(20)}`;
      expect(quoteValue(text).isWellFormed()).toBe(true);
      validate({ name: 'abc', [text]: 1 });
      const message = formatValidationError(validate.errors ?? [], 'body');
      expect(message.isWellFormed()).toBe(true);
      expect(message.length).toBeLessThan(250);
    }
  });
});

describe('pages', () => {
  const tokens = new PageTokens(new Encryptor(Buffer.alloc(32, 7), systemRandom));
  const rows = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ at: index, id: `r${index}` }));

  test.each([
    [0, 3, 0, false],
    [3, 3, 3, false],
    [4, 3, 3, true],
    [9, null, 9, false],
  ])('%i rows at a limit of %j make a page of %i', (count, limit, items, more) => {
    const page = slicePage(rows(count), limit, (row) => row);
    expect(page.items).toHaveLength(items);
    expect(page.next).toEqual(more ? { at: items - 1, id: `r${items - 1}` } : null);
  });

  test.each([
    [{}, null],
    [{ pagereturn: false }, null],
    [{ pagereturn: true }, 50],
    [{ limit: 7 }, 7],
    [{ pagereturn: true, limit: 7 }, 7],
    [{ pagetoken: '' }, 50],
  ])('the query %j asks for a limit of %j', (query, limit) => {
    expect(parsePageRequest(tokens, 'list', query)).toEqual({ after: null, limit });
  });

  test('a token decodes to the end of its page, for its own list only', () => {
    const at = { at: 1_800_000_000_123, id: 'ä "x" 🚚' };
    const token = tokens.encode('list a', at);
    expect(token).toMatch(/^[\w-]+$/);
    expect(tokens.decode('list a', token)).toEqual(at);
    expect(() => tokens.decode('list b', token)).toThrow('pagetoken is');
    expect(() =>
      new PageTokens(new Encryptor(Buffer.alloc(32, 8), systemRandom)).decode('list a', token),
    ).toThrow('pagetoken is');
  });

  test('A8: a token tells nothing about its position', () => {
    const token = tokens.encode('list', { at: 1, id: 'run-1', value: 'n:secret' });
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toMatch(/secret|run-1/);
    expect(tokens.decode('list', token)).toEqual({ at: 1, id: 'run-1', value: 'n:secret' });
  });

  test('a token with one changed character is refused', () => {
    const token = tokens.encode('list', { at: 1, id: 'x' });
    fc.assert(
      fc.property(fc.nat({ max: token.length - 1 }), fc.constantFrom(...'AZaz09-_=. '), (at, character) => {
        const changed = `${token.slice(0, at)}${character}${token.slice(at + 1)}`;
        if (changed !== token) expect(() => tokens.decode('list', changed)).toThrow('pagetoken is');
      }),
      { seed: 2, numRuns: 300 },
    );
  });

  test('the response is an array unless the query requests pages', () => {
    const page = { items: [1, 2], next: { at: 1, id: 'x' } };
    expect(formatPageOrArray(tokens, 'list', {}, page)).toEqual([1, 2]);
    expect(formatPageOrArray(tokens, 'list', { pagereturn: true }, page)).toEqual({
      items: [1, 2],
      next_page_token: expect.any(String),
    });
    expect(formatPageOrArray(tokens, 'list', { pagereturn: true }, { items: [], next: null })).toEqual({
      items: [],
    });
  });
});

describe('a signed URL', () => {
  let now = 1_800_000_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  const signer = new UrlSigner({ key: Buffer.alloc(32, 1), clock, publicUrl: () => 'https://x.example/sub' });
  const readQuery = (url: string) => Object.fromEntries(new URL(url).searchParams) as Record<string, string>;

  test('is absolute, contains the public path and states its expiry', () => {
    const url = new URL(signer.sign('PUT', '/v1/uploads/a', 600));
    expect(url.origin + url.pathname).toBe('https://x.example/sub/v1/uploads/a');
    expect(url.searchParams.get('expires')).toBe(String(now / 1000 + 600));
  });

  test('is valid only for its method, path, query and time', () => {
    const query = { type: 'text/plain; charset=utf-8' };
    const values = readQuery(signer.sign('GET', '/a', 600, query));
    expect(signer.findRejection('GET', '/a', values, query)).toBeNull();
    expect(signer.findRejection('PUT', '/a', values, query)).toContain('signature');
    expect(signer.findRejection('GET', '/b', values, query)).toContain('signature');
    expect(signer.findRejection('GET', '/a', values)).toContain('signature');
    expect(signer.findRejection('GET', '/a', values, { type: 'text/html' })).toContain('signature');
    expect(signer.findRejection('GET', '/a', { ...values, expires: '9'.repeat(12) }, query)).toContain(
      'signature',
    );
    expect(signer.findRejection('GET', '/a', {}, query)).toContain('signature');
    now += 599_999;
    expect(signer.findRejection('GET', '/a', values, query)).toBeNull();
    now += 1;
    expect(signer.findRejection('GET', '/a', values, query)).toContain('expired');
  });
});

describe('base64url', () => {
  test.each([
    ['', ''],
    ['AA', '00'],
    ['-_8', 'fbff'],
    ['AB', null],
    ['AA==', null],
    ['A A', null],
    ['+/8', null],
    ['A', null],
    ['ä', null],
  ])('%j is %j', (text, hex) => {
    expect(decodeBase64Url(text)?.toString('hex') ?? null).toBe(hex);
  });
});
