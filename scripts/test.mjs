/**
 * `npm test`: installs what the tests need, checks types and style, runs every test on SQLite and the server's again on
 * PostgreSQL, and ends with one line of counts. Arguments are handed to the test runner, which then runs on SQLite alone:
 * `npm test -- server/runs`. With `DATABASE=postgres` it is PostgreSQL alone.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';
import { summarizeDurations } from './test-durations.mjs';
import { installTools } from './tools.mjs';

install({ development: true });
installTools();

const chosen = process.argv.slice(2);
/** What is tested on either database. */
const SERVER_TESTS = ['server/', 'conformance/client/sequence'];

const folder = mkdtempSync(join(tmpdir(), 'switchyard-tests-'));
const bin = (/** @type {string} */ name) => join(root, 'node_modules', '.bin', name);
const totals = { passed: 0, failed: 0, skipped: 0 };
/** One line for each failure, printed at the end: the output of the tests is thousands of lines long. */
/** @type {string[]} */
const failures = [];
/** Lines about the time that each part took. */
/** @type {string[]} */
const durations = [];

/** A check that passes or fails as a whole. */
function check(/** @type {string} */ name, /** @type {string[]} */ command) {
  console.log(`\n── ${name}`);
  const done = spawnSync(node, command, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (done.status === 0) totals.passed += 1;
  else {
    totals.failed += 1;
    failures.push(name);
  }
}

/** The test runner over some files, on one database. */
function tests(/** @type {string} */ name, /** @type {string} */ database, /** @type {string[]} */ filters) {
  console.log(`\n── ${name}`);
  const report = join(folder, `${database}.json`);
  const failuresFile = join(folder, `${database}-failures.json`);
  const reporter = join(root, 'scripts', 'failure-reporter.mjs');
  const flags = [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--reporter=${reporter}`,
    `--outputFile.json=${report}`,
  ];
  const done = spawnSync(node, [bin('vitest'), ...flags, ...filters], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      DATABASE: database,
      FAILURES_FILE: failuresFile,
      PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`,
    },
  });
  const counts = readCounts(report);
  totals.passed += counts.passed;
  totals.skipped += counts.skipped;
  // A file that cannot be loaded, or a runner that dies, fails without a failed test.
  totals.failed += counts.failed > 0 || done.status === 0 ? counts.failed : 1;
  const found = readFailures(failuresFile);
  failures.push(...found.map((failure) => `${database}: ${failure.replace(`${root}/`, '')}`));
  if (found.length === 0 && done.status !== 0) failures.push(`${name}: the runner ended with ${done.status}`);
  durations.push(`── duration of ${name}`, ...summarizeDurations(report));
}

function readCounts(/** @type {string} */ path) {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'));
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests,
      skipped: report.numPendingTests,
    };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

/** @returns {string[]} */
function readFailures(/** @type {string} */ path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return [];
  }
}

if (chosen.length > 0 || process.env.DATABASE) {
  const database = process.env.DATABASE ?? 'sqlite';
  tests(`tests on ${database}`, database, chosen.length > 0 ? chosen : SERVER_TESTS);
} else {
  check('types', [bin('tsc'), '--noEmit', '-p', root]);
  check('style', [bin('biome'), 'check', root]);
  tests('tests, the server on SQLite', 'sqlite', []);
  tests('tests of the server on PostgreSQL', 'postgres', SERVER_TESTS);
}

rmSync(folder, { recursive: true, force: true });
if (chosen.length === 0) console.log(`\n${durations.join('\n')}`);
if (failures.length > 0) console.log(`\n── failed\n\n${failures.join('\n\n')}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);
