/**
 * Records the texts of the statements that this process executes, one file for each process, where `STATEMENTS_FOLDER` names a
 * folder. `npm test` compares those of both databases (compare-statements.ts).
 */
import { subscribe } from 'node:diagnostics_channel';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const { STATEMENTS_FOLDER, DATABASE = 'sqlite' } = process.env;
const RECORDED = Symbol.for('switchyard.recorded-statements');

// A worker of the test runner loads this file once for each test file.
if (STATEMENTS_FOLDER && !(RECORDED in globalThis)) {
  const recorded = new Set<string>();
  Object.assign(globalThis, { [RECORDED]: recorded });
  // Opened once: some tests use up the file descriptors of the process.
  const file = openSync(join(STATEMENTS_FOLDER, `${DATABASE}-statements-${process.pid}.jsonl`), 'a');
  subscribe('switchyard:statements', (message) => {
    const text = String(message);
    if (recorded.has(text)) return;
    recorded.add(text);
    writeSync(file, `${JSON.stringify(text)}\n`);
  });
}
