/**
 * `npm test` installs the dependencies of the tests and checks types and style. It runs every test on SQLite and the
 * server's again on PostgreSQL, and ends with one line of counts. All four run in parallel: tests on SQLite that wait
 * for apps, browsers and leases leave a third of two cores idle, which the tests on PostgreSQL use. Arguments go to the
 * test runner, which then runs on SQLite alone: `npm test -- server/runs`. `DATABASE=postgres` runs PostgreSQL alone.
 * `--affected` runs the tests beside the files with uncommitted changes and those that import these nearly directly,
 * `--affected=main` the same for changes since a commit.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fail, install, node, root } from './install.mjs';
import { createTestFolder } from './memory-folder.mjs';
import { summarizeDurations } from './test-durations.mjs';
import { installTools } from './tools.mjs';

install({ development: true });
installTools();

const affected = process.argv.find((argument) => /^--affected(=|$)/.test(argument));
const chosen = [
  ...process.argv.slice(2).filter((argument) => argument !== affected),
  ...(affected ? listAffected(affected.split('=')[1] ?? 'HEAD') : []),
];
/** Tests that run on either database. */
const SERVER_TESTS = ['server/', 'conformance/client/sequence'];

/** Every test runs on the databases that it is for. */
const isWhole = chosen.length === 0 && !process.env.DATABASE;

const pythonFolders = findPythonFolders();

const folder = createTestFolder();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
const bin = (/** @type {string} */ name) => join(root, 'node_modules', '.bin', name);
const totals = { passed: 0, failed: 0, skipped: 0 };
/** Failures, printed at the end: the output of the tests is thousands of lines long. */
/** @type {string[]} */
const failures = [];
/** The duration of each part. */
/** @type {string[]} */
const durations = [];

/** Lists the test files that the changes since the commit affect first. */
function listAffected(/** @type {string} */ since) {
  const command = join(root, 'checks', 'affected-tests-command.ts');
  const { status, stdout, stderr } = spawnSync(node, [command, since], { encoding: 'utf8' });
  if (status !== 0) fail(stderr);
  const files = stdout.split('\n').filter(Boolean);
  if (files.length > 0) return files;
  console.log('The changes affect no test.\n0 passed, 0 failed, 0 skipped');
  process.exit(0);
}

/**
 * Returns the folder of the Python that a shell script of pyenv would start, or nothing where there is no such script. A
 * server asks Python for its version when it starts, and the script starts 25 processes for each answer.
 */
function findPythonFolders() {
  const script = 'command -v python3 && python3 -c "import sys; print(sys.executable)"';
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  const [first = '', own = ''] = stdout.split('\n');
  return first.includes('/shims/') ? [dirname(own)] : [];
}

/**
 * Runs a command of the project's Node to its end. Its output streams to the terminal, or goes to a file where other output
 * streams at the same time.
 * @param {string[]} command
 * @param {{ outputFile?: string, env?: Record<string, string> }} [settings]
 * @returns {Promise<number | null>} The exit code; null after a signal.
 */
async function run(command, { outputFile, env = {} } = {}) {
  const child = spawn(node, command, {
    cwd: root,
    stdio: ['ignore', outputFile ? 'pipe' : 'inherit', outputFile ? 'pipe' : 'inherit'],
    env: { ...process.env, ...env },
  });
  if (outputFile) {
    const file = createWriteStream(outputFile);
    child.stdout?.pipe(file, { end: false });
    child.stderr?.pipe(file, { end: false });
    const [status] = await once(child, 'close');
    await new Promise((resolve) => file.end(resolve));
    return status;
  }
  const [status] = await once(child, 'close');
  return status;
}

/** Prints the stored output of a command below its name. */
function printOutput(/** @type {string} */ name, /** @type {string} */ outputFile) {
  console.log(`\n── ${name}\n${readFileSync(outputFile, 'utf8')}`);
}

/** Runs a check that passes or fails as a whole. */
async function check(/** @type {string} */ name, /** @type {string[]} */ command) {
  const outputFile = join(folder, `${name}.txt`);
  const status = await run(command, { outputFile });
  printOutput(name, outputFile);
  if (status === 0) totals.passed += 1;
  else {
    totals.failed += 1;
    failures.push(name);
  }
}

/**
 * Runs the test runner over some files, on one database.
 * @param {string} name
 * @param {string} database
 * @param {string[]} filters
 * @param {string} [outputFile] Where the output goes; by default it streams to the terminal.
 */
async function runTests(name, database, filters, outputFile) {
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
  if (!outputFile) console.log(`\n── ${name}`);
  const status = await run([bin('vitest'), ...flags, ...filters], {
    ...(outputFile ? { outputFile } : {}),
    env: {
      DATABASE: database,
      STATEMENTS_FOLDER: folder,
      FAILURES_FILE: failuresFile,
      ...(affected ? { AFFECTED: 'true' } : {}),
      ...(isWhole ? { BOTH_DATABASES: 'true' } : {}),
      TMPDIR: folder,
      PATH: [join(root, 'node_modules', '.bin'), ...pythonFolders, process.env.PATH].join(delimiter),
    },
  });
  const counts = readCounts(report);
  totals.passed += counts.passed;
  totals.skipped += counts.skipped;
  const found = readFailures(failuresFile);
  // A hook, a file that cannot be loaded and a crashed runner fail without a failed test.
  totals.failed += status === 0 ? 0 : Math.max(found.length, counts.failed, 1);
  failures.push(...found.map((failure) => `${database}: ${failure.replace(`${root}/`, '')}`));
  if (found.length === 0 && status !== 0) failures.push(`${name}: the runner ended with ${status}`);
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

// Here, because two runners would bundle the same programs at the same time.
await run([join(root, 'cli', 'testing', 'global-setup.ts')]);

if (!isWhole) {
  const database = process.env.DATABASE ?? 'sqlite';
  await runTests(`tests on ${database}`, database, chosen.length > 0 ? chosen : SERVER_TESTS);
} else {
  const postgresName = 'tests of the server on PostgreSQL';
  const postgresOutput = join(folder, 'postgres.txt');
  await Promise.all([
    runTests('tests, the server on SQLite', 'sqlite', []),
    runTests(postgresName, 'postgres', SERVER_TESTS, postgresOutput),
    // Not `--incremental`: after a change of a type that the whole server uses, the compiler took 14 GB instead of 3.
    check('types', [bin('tsc'), '--noEmit', '-p', root]),
    check('style', [bin('biome'), 'check', root]),
  ]);
  printOutput(postgresName, postgresOutput);
  await check('statements', [join(root, 'server/testing/database/compare-statements-command.ts'), folder]);
}

rmSync(folder, { recursive: true, force: true });
if (chosen.length === 0) console.log(`\n${durations.join('\n')}`);
if (failures.length > 0) console.log(`\n── failed\n\n${failures.join('\n\n')}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed > 0 || (totals.passed === 0 && !affected) ? 1 : 0);
