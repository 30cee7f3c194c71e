import { BANNER_CACHE_MS } from '@switchyard/contract/site/banner.ts';
import { describe, expect, test } from 'vitest';
import { parseBanner, parseCachedBanner } from './parse-banner.ts';

const base = 'https://yard.example/docs';
const banner = {
  actionLabel: 'Read more',
  description: 'There is news.',
  url: 'https://news.example/today',
  urlAttributeTitle: 'What is new',
};

describe('a fetched banner', () => {
  test('has its four texts and nothing else', () => {
    expect(parseBanner({ ...banner, other: 1 }, base)).toEqual(banner);
  });

  test('may be null', () => {
    expect(parseBanner(null, base)).toBeNull();
  });

  test.each(['/docs/releases/latest', 'releases', '#news', 'http://news.example'])(
    'may lead to %s',
    (url) => {
      expect(parseBanner({ ...banner, url }, base)).toEqual({ ...banner, url });
    },
  );

  test.each([
    ['no object', 'news'],
    ['a number', 1],
    ['nothing', undefined],
    ['an empty object', {}],
    ['an array', [banner]],
    ['a missing label', { ...banner, actionLabel: undefined }],
    ['an empty description', { ...banner, description: ' ' }],
    ['a title that is no text', { ...banner, urlAttributeTitle: 3 }],
    ['an endless description', { ...banner, description: 'x'.repeat(301) }],
    ['a script', { ...banner, url: 'javascript:alert(1)' }],
    ['a script in disguise', { ...banner, url: ' java\nscript:alert(1)' }],
    ['data', { ...banner, url: 'data:text/html,x' }],
    ['a file', { ...banner, url: 'file:///etc/passwd' }],
    ['a broken address', { ...banner, url: 'https://' }],
  ])('is not %s', (_what, value) => {
    expect(parseBanner(value, base)).toBeUndefined();
  });
});

describe('a cached banner', () => {
  const fetchedAt = 1_800_000_000_000;
  const text = JSON.stringify({ fetchedAt, banner });

  test.each([
    ['immediately', 0, true],
    ['in the last millisecond of the day', BANNER_CACHE_MS - 1, true],
    ['a day later', BANNER_CACHE_MS, false],
    ['before it was fetched, by a clock that was set back', -1, false],
  ])('is used %s: %#', (_when, after, used) => {
    expect(parseCachedBanner(text, fetchedAt + after, base)).toEqual(
      used ? { fetchedAt, banner } : undefined,
    );
  });

  test('may be null', () => {
    const none = JSON.stringify({ fetchedAt, banner: null });
    expect(parseCachedBanner(none, fetchedAt, base)).toEqual({ fetchedAt, banner: null });
  });

  test.each([
    null,
    '',
    '{',
    'null',
    '1',
    '[]',
    '{"fetchedAt":0}',
    JSON.stringify({ fetchedAt: '0', banner }),
  ])('is not %s', (stored) => expect(parseCachedBanner(stored, fetchedAt, base)).toBeUndefined());

  test('with an unsafe link is not used', () => {
    const unsafe = JSON.stringify({ fetchedAt, banner: { ...banner, url: 'javascript:alert(1)' } });
    expect(parseCachedBanner(unsafe, fetchedAt, base)).toBeUndefined();
  });

  test('expires after 86400000 ms', () => expect(BANNER_CACHE_MS).toBe(86_400_000));
});
