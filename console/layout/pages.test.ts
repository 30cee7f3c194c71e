import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EXPERIMENT_TYPES } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { expect, test } from 'vitest';
import { DOCUMENTATION } from './pages.ts';

/** Each file below is a page of the built site, at the address of its path. */
const content = join(import.meta.dirname, '..', '..', 'site', 'content', 'using-switchyard');

test('every page of the console has a page of the documentation that exists', () => {
  const targets = Object.values(DOCUMENTATION).flatMap((page) =>
    page.includes('$type') ? EXPERIMENT_TYPES.map((type) => page.replace('$type', type)) : [page],
  );
  expect(targets.length).toBeGreaterThan(40);
  expect(targets.filter((page) => !existsSync(join(content, `${page}.md`)))).toEqual([]);
});
