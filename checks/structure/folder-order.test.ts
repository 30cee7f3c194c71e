/** The sub-folders of this repository import in one direction, and the law finds imports against it. */
import { describe, expect, test } from 'vitest';
import { collectPackages, type Manifest } from '../packages.ts';
import { isCode, readTextFiles } from '../source-files.ts';
import { checkFolderOrder, findUnusedOrders } from './folder-order.ts';

const files = readTextFiles();
const sources = files.filter(isCode);

test('sub-folders import only from earlier ones', () => {
  expect(checkFolderOrder(sources, collectPackages(files))).toEqual([]);
});

test('the orders name existing folders', () => {
  expect(findUnusedOrders(sources)).toEqual([]);
});

describe('the law', () => {
  const manifests = new Map<string, Manifest>([['contract', { name: '@y/contract' }]]);
  const orders = { 'server/runs': ['store', 'queue'], contract: ['schemas', 'runs'] };
  const check = (path: string, text: string) => checkFolderOrder([{ path, text }], manifests, orders);

  test.each([
    ['server/runs/store/a.ts', "import '../queue/b.ts';", 'server/runs/queue, which stands after'],
    ['server/runs/store/deep/a.ts', "import '../../queue/b.ts';", 'server/runs/queue, which stands after'],
    ['server/runs/store/a.ts', "import type { B } from '../queue/b.ts';", 'which stands after'],
    ['contract/schemas/a.ts', "import '@y/contract/runs/b.ts';", 'contract/runs, which stands after'],
    ['server/runs/extra/a.ts', '', 'server/runs/extra has no place in the import order'],
  ])('%s: %s is found', (path, text, words) => {
    expect(check(path, text)).toEqual([expect.stringContaining(words)]);
  });

  test.each([
    ['server/runs/queue/a.ts', "import '../store/b.ts'; import './c.ts'; import '../../jobs/d.ts';"],
    ['server/runs/queue/a.ts', "import '@y/contract/runs/b.ts';"],
    ['server/runs/store/a.test.ts', "import '../queue/b.ts';"],
    ['server/runs/operations.ts', "import './queue/b.ts';"],
    ['server/runs/store/a.ts', "import '../routes.ts';"],
    ['server/runs-archive/store/a.ts', "import '../queue/b.ts';"],
  ])('%s: %s is allowed', (path, text) => {
    expect(check(path, text)).toEqual([]);
  });

  test('a missing folder is found', () => {
    const found = findUnusedOrders([{ path: 'server/runs/store/a.ts', text: '' }], {
      'server/runs': ['store', 'queue'],
    });
    expect(found).toEqual([expect.stringContaining('server/runs/queue contains no source')]);
  });
});
