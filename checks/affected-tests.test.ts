import { expect, test } from 'vitest';
import { findAffectedTests } from './affected-tests.ts';

const sources = Object.entries({
  'server/main.ts': "import './runs/submit/create.ts';",
  'server/main.test.ts': "import './testing/start.ts';",
  'server/testing/start.ts': "import '../main.ts';",
  'server/runs/submit/create.ts': "import './rules.ts';",
  'server/runs/submit/rules.ts': '',
  'server/runs/submit/create.test.ts': "import '../../testing/start.ts';",
  'server/runs/list.test.ts': "import '../testing/start.ts';",
  'server/runs/api/replay.test.ts': "import '../submit/create.ts';",
  'server/runs/api/other.test.ts': "import '../../testing/start.ts';",
  'contract/rule.ts': '',
  'cli/rule.test.ts': "import '@y/contract/rule.ts';",
  'cli/package.json': '{"name": "@y/cli"}',
  'contract/package.json': '{"name": "@y/contract"}',
}).map(([path, text]) => ({ path, text }));
const packages = new Map([
  ['cli', { name: '@y/cli' }],
  ['contract', { name: '@y/contract' }],
]);

test.each([
  // The tests of the folder, and one that imports a module that imports the change.
  [['server/runs/submit/rules.ts'], ['server/runs/api/replay.test.ts', 'server/runs/submit/create.test.ts']],
  // A file whose folder has no tests: those of the folder above.
  [['server/runs/store/rows.ts'], ['server/runs/list.test.ts']],
  [['contract/rule.ts'], ['cli/rule.test.ts']],
  [['README.md'], []],
])('%j affects %j first', (changed, affected) => {
  expect(findAffectedTests(sources, changed, packages)).toEqual(affected);
});
