/** The date of a page comes from git, or is absent. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCommitDates } from './last-updated.ts';

let folder = '';
let whole = '';

function git(...args: string[]): void {
  execFileSync('git', args, {
    cwd: whole,
    stdio: 'ignore',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });
}

function commit(date: string): void {
  process.env.GIT_COMMITTER_DATE = date;
  git('add', '-A');
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-q', '-m', 'Write');
  delete process.env.GIT_COMMITTER_DATE;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-dates-'));
  whole = join(folder, 'whole');
  mkdirSync(whole);
  git('init', '-q');
  for (const name of ['old.md', 'kept.md']) writeFileSync(join(whole, name), 'One.\n');
  commit('2026-01-31T12:00:00Z');
  for (const [day, name] of [
    ['2026-02-28', 'old.md'],
    ['2026-03-31', 'kept.md'],
  ] as const) {
    appendFileSync(join(whole, name), `${day}\n`);
    commit(`${day}T12:00:00Z`);
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const listDates = (where: string) => {
  const getDate = readCommitDates(where);
  return ['old.md', 'kept.md'].map((name) => getDate(join(where, name))?.text);
};

test('is the day of its last commit, or of the file before its first commit', () => {
  expect(listDates(whole)).toEqual(['February 28, 2026', 'March 31, 2026']);
  writeFileSync(join(whole, 'new.md'), 'One.\n');
  const written = readCommitDates(whole)(join(whole, 'new.md'));
  expect(Date.now() - Date.parse(written?.iso ?? '')).toBeLessThan(86_400_000);
});

test('is not the day at which the history of a shallow clone starts', () => {
  const clone = join(folder, 'shallow');
  git('clone', '-q', '--depth', '2', pathToFileURL(whole).href, clone);
  expect(listDates(clone)).toEqual([undefined, 'March 31, 2026']);
});

test('is not the day at which an archive was unpacked', () => {
  const unpacked = join(folder, 'unpacked');
  cpSync(whole, unpacked, { recursive: true });
  rmSync(join(unpacked, '.git'), { recursive: true });
  expect(listDates(unpacked)).toEqual([undefined, undefined]);
});
