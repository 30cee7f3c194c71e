/**
 * A reporter of the test runner that writes each failure with its difference to the file `FAILURES_FILE`. `npm test`
 * repeats them at its end, after thousands of other lines. The built-in JSON report has no differences.
 */
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const LINES_MAX = 30;

export default class FailureReporter {
  onTestRunEnd(/** @type {readonly any[]} */ modules, /** @type {readonly any[]} */ unhandledErrors) {
    const failures = modules.flatMap((module) => [
      ...module.errors().map((/** @type {any} */ error) => describe(module.moduleId, error)),
      // The hooks of a group of tests; their tests count as skipped.
      ...[...module.children.allSuites()].flatMap((suite) =>
        suite
          .errors()
          .map((/** @type {any} */ error) => describe(`${module.moduleId} > ${suite.fullName}`, error)),
      ),
      ...[...module.children.allTests('failed')].map((test) =>
        describe(`${module.moduleId} > ${test.fullName}`, ...(test.result().errors ?? [])),
      ),
    ]);
    failures.push(...unhandledErrors.map((error) => describe('outside of any test', error)));
    if (process.env.FAILURES_FILE) writeFileSync(process.env.FAILURES_FILE, JSON.stringify(failures));
  }
}

/** Returns the place of a failure and the first lines of its errors. */
function describe(/** @type {string} */ place, /** @type {any[]} */ ...errors) {
  const text = errors.map((error) => `${error.message}\n${error.diff ?? ''}`).join('\n');
  return [place, ...stripVTControlCharacters(text).split('\n').slice(0, LINES_MAX)].join('\n  ');
}
