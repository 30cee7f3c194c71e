/** The laws of parsed JSON, of casts and of module state find violations, and accept correct code. */
import { describe, expect, test } from 'vitest';
import { doubleCasts } from './casts.ts';
import { jsonParse } from './json-parse.ts';
import { moduleState } from './module-state.ts';

describe('parsed JSON', () => {
  const find = (text: string, path = 'server/a.ts') => jsonParse.findViolations([{ path, text }]);

  test.each([
    'const a: Manifest = JSON.parse(text);',
    'const a = JSON.parse(text) as Manifest;',
    'const a = JSON.parse(text);',
    'const { a }: { a?: unknown } = JSON.parse(text);',
    'const a: Manifest | null = text === null ? null : JSON.parse(text);',
    'f(JSON.parse(text));',
    'function f(): Manifest { return JSON.parse(text); }',
    'const f = (): Manifest => JSON.parse(text);',
    'const f = (): unknown => { const g = () => { return JSON.parse(text); }; return g(); };',
    'let a: Manifest; a = JSON.parse(text);',
    'const a: unknown = JSON.parse(text); f(a as Manifest);',
    'let a: unknown; a = JSON.parse(text); f(a as Manifest);',
  ])('%s is found', (text) => {
    expect(find(text)).toHaveLength(1);
  });

  test.each([
    'const a: unknown = JSON.parse(text);',
    'const a: unknown = text === null ? null : JSON.parse(text);',
    'let a: unknown; a = JSON.parse(text);',
    'const a = JSON.parse(text) as unknown;',
    'function f(): unknown { return JSON.parse(text); }',
    'async function f(): Promise<unknown> { return JSON.parse(text); }',
    'const f = (): unknown => JSON.parse(text);',
    'JSON.parse(text);',
    "const a = 'JSON.parse(text)';",
    'const a: unknown = JSON.parse(text); f(b as Manifest);',
  ])('%s is allowed', (text) => {
    expect(find(text)).toEqual([]);
  });

  test.each(['server/a.test.ts', 'server/testing/a.ts', 'bench/a.ts', 'sample-apps/a/b.ts'])(
    '%s is exempt',
    (path) => {
      expect(find('const a: Manifest = JSON.parse(text);', path)).toEqual([]);
    },
  );
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
