import { expect, test } from 'vitest';
import { cleanLogLine, splitLog } from './clean-log-line.ts';

test.each([
  ['improved to 1040.6 after 0.4 s', 'improved to 1040.6 after 0.4 s'],
  ['a\tb', 'a\tb'],
  ['\u001b[1;31merror\u001b[0m: no route', 'error: no route'],
  ['\u001b]0;a title\u0007text', 'text'],
  ['\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u009b31mred', 'red'],
  ['\u001b(Bplain', 'plain'],
  ['an open end\u001b[31', 'an open end'],
  ['10 %\r20 %\r30 %', '30 %'],
  ['with a return\r', 'with a return'],
  ['bell\u0007 and nul\u0000', 'bell and nul'],
  ['file\u202egpj.exe', 'file⟨U+202E⟩gpj.exe'],
  ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ['', ''],
])('cleans %j', (line, text) => {
  expect(cleanLogLine(line)).toBe(text);
});

test('a hostile line of 64 KiB takes bounded time', () => {
  const hostile = '\u001b]\u001b['.repeat(16 * 1024);
  const started = performance.now();
  expect(cleanLogLine(hostile)).not.toContain('\u001b');
  expect(performance.now() - started).toBeLessThan(500);
});

test.each([
  ['', []],
  ['a\nb\n', ['a', 'b']],
  ['a\n\nb', ['a', '', 'b']],
])('splits %j', (log, lines) => {
  expect(splitLog(log)).toEqual(lines);
});
