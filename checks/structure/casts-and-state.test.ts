/** The laws of casts and of module state find violations, and accept correct code. */
import { describe, expect, test } from 'vitest';
import { casts, doubleCasts } from './casts.ts';
import { moduleState } from './module-state.ts';

describe('casts', () => {
  const find = (text: string, path = 'server/a.ts') => casts.findViolations([{ path, text }]);

  test.each([
    'const a = JSON.parse(text) as Manifest;',
    'const a = b as unknown as Manifest;',
    'const a = <Manifest>b;',
    "f(b as 'running' | 'queued');",
    'const a = b as never;',
  ])('%s is found', (text) => {
    expect(find(text)).toHaveLength(1);
  });

  test.each([
    'const a = [1, 2] as const;',
    'const a = JSON.parse(text) as unknown;',
    'const a = { b } satisfies Manifest;',
    "import { a as b } from './a.ts';",
    "const a = 'b as c';",
  ])('%s is allowed', (text) => {
    expect(find(text)).toEqual([]);
  });

  test('tests may cast', () => {
    expect(find('const a = b as Manifest;', 'server/a.test.ts')).toEqual([]);
  });
});

describe('casts through unknown', () => {
  const find = (text: string) => doubleCasts.findViolations([{ path: 'server/a.test.ts', text }]);

  test.each([
    'const a = b as unknown as Manifest;',
    'const a = (b as unknown) as Manifest;',
    'const a = b as never as Manifest;',
  ])('%s is found', (text) => {
    expect(find(text)).toHaveLength(1);
  });

  test.each([
    'const a = b as Manifest;',
    'const a = b as unknown;',
    'const a = (b as Manifest).c as number;',
  ])('%s is allowed', (text) => {
    expect(find(text)).toEqual([]);
  });
});

describe('module state', () => {
  const find = (text: string, path = 'server/a.ts') => moduleState.findViolations([{ path, text }]);

  test.each([
    'let count = 0;',
    'export let count = 0;',
    'const cache = new Map(); function f() { cache.set(1, 2); }',
    'export const seen = new WeakSet<Run>(); const f = (run: Run) => seen.add(run);',
    'const rows: Row[] = []; function f(row: Row) { rows.push(row); }',
    'const state = { count: 0 }; function f() { state.count += 1; }',
    'const state: Record<string, number> = {}; function f() { delete state.a; }',
    'const scope = new AsyncLocalStorage<Call>();',
  ])('%s is found', (text) => {
    expect(find(text)).toHaveLength(1);
  });

  test.each([
    "const NAMES = new Set(['a']); function f(a: string) { return NAMES.has(a); }",
    'function f() { let count = 0; count += 1; const seen = new Map(); seen.set(1, 2); }',
    'class A { #seen = new Map(); add() { this.#seen.set(1, 2); } }',
    'const LIMITS = { a: 1 }; function f() { return LIMITS.a; }',
    'const pattern = /a/;',
  ])('%s is allowed', (text) => {
    expect(find(text)).toEqual([]);
  });

  test.each(['server/testing/a.ts', 'server/a.test.ts', 'site/client/a.ts'])('%s is exempt', (path) => {
    expect(find('let count = 0;', path)).toEqual([]);
  });
});
