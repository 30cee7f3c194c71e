import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

describe('a wrong setting is refused by its name', () => {
  test.each([
    ['SWITCHYARD_PORT', 'abc'],
    ['SWITCHYARD_PORT', ' '],
    ['SWITCHYARD_PORT', '65536'],
    ['SWITCHYARD_DATABASE', 'mysql://127.0.0.1/x'],
    ['SWITCHYARD_BLOBS', '/var/blobs'],
    ['SWITCHYARD_BLOBS', 'file://mnt/blobs'],
    ['SWITCHYARD_BLOBS', 'file:///'],
    ['SWITCHYARD_BLOBS', 'file:///mnt/blobs?region=x'],
    ['SWITCHYARD_PUBLIC_URL', 'yard.example'],
    ['SWITCHYARD_PUBLIC_URL', 'https://yard.example/?a=1'],
    ['SWITCHYARD_ROLE', 'boss'],
    ['SWITCHYARD_ROLE', 'worker'],
    ['SWITCHYARD_CAPACITY', '-1'],
    ['SWITCHYARD_CAPACITY', '0'],
    ['SWITCHYARD_CAPACITY', '1,2'],
    ['SWITCHYARD_CAPACITY', '6c9500mb870s=1,6c9500mb870s=2'],
    ['SWITCHYARD_CAPACITY', 'huge=1'],
    ['SWITCHYARD_CONTAINMENT', 'jail'],
    ['SWITCHYARD_RATE_LIMIT', '5'],
    ['SWITCHYARD_RATE_LIMIT', '0/1'],
    ['SWITCHYARD_RATE_LIMIT', '99999999999999999999/1'],
    ['SWITCHYARD_SIGN_UP', 'yes'],
    ['SWITCHYARD_KEY', 'abc'],
    ['SWITCHYARD_LOG_LEVEL', 'loud'],
    ['SWITCHYARD_HSOT', '127.0.0.1'],
  ])('%s="%s"', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} .*\\.$`));
  });
});

test('capacity is shared slots, or slots of classes, or both', () => {
  const capacityOf = (text: string) => readConfig({ SWITCHYARD_CAPACITY: text }).capacity;
  expect(capacityOf('8')).toEqual({ shared: 8, perClass: {} });
  expect(capacityOf('0,6c9500mb870s=4')).toEqual({ shared: 0, perClass: { '6c9500mb870s': 4 } });
  expect(capacityOf('8c16gb12h=1, 2')).toEqual({ shared: 2, perClass: { '8c16gb12h': 1 } });
});

/** The names, from the sentence that refuses one that is not among them. */
function settings(): string[] {
  try {
    readConfig({ SWITCHYARD_HSOT: '127.0.0.1' });
    return [];
  } catch (error) {
    const [, known = ''] = String(error).split('there are ');
    return known.match(/SWITCHYARD_[A-Z_]+/g) ?? [];
  }
}

test.each(['README.md', 'site/content/using-switchyard/setup/install.md'])(
  'the table of %s has every setting and no other',
  (path) => {
    const text = readFileSync(join(import.meta.dirname, '..', path), 'utf8');
    const cells = text.split('\n').flatMap((line) => /^\| (`SWITCHYARD_[^|]*)\|/.exec(line)?.[1] ?? []);
    const shown = cells.flatMap((cell) => cell.match(/SWITCHYARD_[A-Z_]+/g) ?? []);
    expect(settings().length).toBeGreaterThan(10);
    expect(shown.sort()).toEqual(settings().sort());
  },
);
