/** Pages state limits in words; the contract has their values. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CLASS_LIMITS,
  EXECUTION_CLASS_DEFAULT,
  EXECUTION_CLASSES,
} from '@switchyard/contract/execution-classes.ts';
import { ANALYSIS_METHOD } from '@switchyard/contract/experiments/experiment-results.ts';
import * as limits from '@switchyard/contract/limits.ts';
import { describe, expect, test } from 'vitest';

const KIB = 1024;
const MIB = 1024 * KIB;
const HOUR_MS = 60 * 60 * 1000;
const number = new Intl.NumberFormat('en-US');

/** Reads a page with one space between words, so that a line may break anywhere. */
function readWords(page: string): string {
  const path = join(import.meta.dirname, 'content/using-switchyard', `${page}.md`);
  return readFileSync(path, 'utf8').replaceAll(/\s+/g, ' ');
}

const stated: [page: string, words: string][] = [
  ['run/queuing-prioritization', `after the first ${limits.PREDICTED_STARTS_MAX} runs that share`],
  ['run/large-payloads', `5 MB (${number.format(limits.DIRECT_INPUT_BYTES_MAX)} bytes)`],
  ['run/large-payloads', `500 MB (${number.format(limits.UPLOAD_BYTES_MAX)} bytes)`],
  ['run/large-payloads', `100 MB (${number.format(limits.OUTPUT_BYTES_MAX)} bytes)`],
  ['run/large-payloads', `${limits.UPLOAD_URL_TTL_SECONDS / 60} minutes, one content`],
  ['run/large-payloads', `at most ${number.format(limits.UPLOAD_PARTS_MAX)} parts`],
  ['run/large-payloads', `${limits.DOWNLOAD_URL_TTL_SECONDS / 60} minutes, any number of GETs`],
  ['run/large-payloads', `| Unused upload | ${limits.UPLOAD_RETENTION_MS / HOUR_MS} hours |`],
  ['run/logging', `| A line | ${limits.LOG_LINE_BYTES_MAX / KIB} KiB |`],
  ['run/logging', `| The log | ${limits.LOG_BYTES_MAX / MIB} MB |`],
  ['run/logging', `| Live lines | ${limits.LIVE_LOG_RETENTION_MS / HOUR_MS} hours |`],
  // A worker is dead when its lease is over and it has then been silent for two of the six signs of life of a lease.
  ['run/methodology', `About ${(limits.LEASE_DURATION_MS * 4) / 3 / 1000} seconds after the last one`],
  ['run/custom-assets', `at most ${limits.ASSETS_MAX} assets`],
  ['run/custom-assets', `1 to ${limits.ASSET_NAME_CHARS_MAX} characters`],
  ['run/queuing-prioritization', `from ${limits.PRIORITY_MIN} to ${limits.PRIORITY_MAX}`],
  ['run/queuing-prioritization', `the default is ${limits.PRIORITY_DEFAULT}.`],
  ['run/queuing-prioritization', `counted to ${limits.QUEUE_POSITION_MAX};`],
  ['experiments/batch', `now \`${ANALYSIS_METHOD}\`.`],
  ['experiments/shadow', `now \`${ANALYSIS_METHOD}\`.`],
  ['experiments/switchback', `now \`${ANALYSIS_METHOD}\`;`],
  ['experiments/acceptance', `now \`${ANALYSIS_METHOD}\`.`],
  ['experiments/batch', `An experiment has at most ${number.format(limits.BATCH_RUNS_MAX)} runs`],
  ['experiments/batch', `The newest ${number.format(limits.BATCH_RUNS_EMBEDDED_MAX)} stand in`],
  ['run/runs-ensembling', `at most ${limits.ENSEMBLE_RUNS_MAX} runs`],
  ['experiments/acceptance', `has 1 to ${limits.METRICS_MAX} rules`],
  ['experiments/shadow', `\`maximum_runs\`, 1 to ${limits.SHADOW_RUNS_MAX}`],
  ['experiments/switchback', `A plan has at most ${number.format(limits.SWITCHBACK_UNITS_MAX)} units`],
  ['experiments/input-sets', `\`maximum_runs\` is 1 to ${limits.INPUT_SET_RUNS_MAX}`],
  ['experiments/input-sets', `| 1 to ${limits.INPUT_SET_INPUTS_MAX}, each once`],
  ['run/options-hierarchy', `at most ${limits.OPTIONS_MAX} options`],
  ['run/options-hierarchy', `value has at most ${limits.OPTION_VALUE_CHARS_MAX} characters`],
  ['run/track-runs', `at most ${limits.ERROR_CHARS_MAX} characters`],
  ['run/track-runs', `as text, at most ${limits.LOG_BYTES_MAX / MIB} MB`],
  [
    'reference/rate-limits',
    `${limits.REQUEST_BODY_BYTES_MAX / MIB} MiB (${number.format(limits.REQUEST_BODY_BYTES_MAX)} bytes)`,
  ],
  [
    'reference/rate-limits',
    `| levels of a body | ${number.format(limits.REQUEST_BODY_DEPTH_MAX)} | \`400\` |`,
  ],
  [
    'reference/rate-limits',
    `outside the input of a run | ${number.format(limits.REQUEST_BODY_VALUES_MAX)} |`,
  ],
  ['accounts/api-keys', `at most ${limits.MEMBER_KEYS_MAX} keys`],
  ['reference/rate-limits', `| request body | ${limits.BODY_BYTES_MAX / KIB} KiB |`],
  ['reference/rate-limits', `or an input set | ${limits.LARGE_BODY_BYTES_MAX / MIB} MiB |`],
  ['reference/rate-limits', `such as a sign-up | ${limits.PUBLIC_BODY_BYTES_MAX / KIB} KiB |`],
  ['deploy/app', `at most ${number.format(limits.ARCHIVE_ENTRIES_MAX)} entries`],
  ['deploy/app', `and ${limits.ARCHIVE_UNPACKED_BYTES_MAX / 1024 / MIB} GiB unpacked`],
  ['run/execution-classes', `else \`${EXECUTION_CLASS_DEFAULT}\``],
];

describe('a limit on a page is that of the contract', () => {
  test.each(stated)('%s: %s', (page, words) => {
    expect(readWords(page)).toContain(words);
  });
});

test('the table of execution classes has all of them', () => {
  const words = readWords('run/execution-classes');
  for (const name of EXECUTION_CLASSES) {
    const { cores, memory_bytes, duration_ms } = CLASS_LIMITS[name];
    const megabytes = memory_bytes / 1_000_000;
    const memory = megabytes < 10_000 ? String(megabytes) : number.format(megabytes);
    const time = duration_ms < HOUR_MS ? `${duration_ms / 1000} s` : `${duration_ms / HOUR_MS} hours`;
    expect(words).toContain(`| \`${name}\` | ${cores} | ${memory} MB | ${time} |`);
  }
});
