/** Text of apps and other people at a terminal. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { cleanText, createTextCleaner } from './clean-text.ts';
import { createOutput, type Form } from './output.ts';

const HOSTILE = 'caf\u00e9\u009b2J \u001b]0;title\u0007a\u202eb\u061cc';

/** Returns what is written of the text to a terminal, or to a pipe. */
function print(form: Form, isTTY: boolean): string {
  let written = '';
  const stream = { isTTY, write: (text: string | Uint8Array) => (written += text) };
  const { signal } = new AbortController();
  const output = createOutput(
    { in: Readable.from([]), out: stream, err: stream, env: {}, cwd: '/', signal },
    form,
  );
  output.print({ json: HOSTILE, text: () => output.style('good', HOSTILE), quiet: () => HOSTILE });
  output.warn(HOSTILE);
  return written;
}

test('A9: a terminal gets no controls of an app, and the colours of the command', () => {
  const clean = 'caf\u00e9 abc';
  const warning = `Warning: ${clean}\n`;
  expect(print('text', true)).toBe(`\u001b[32m${clean}\u001b[39m${warning}`);
  expect(print('quiet', true)).toBe(`${clean}\n${warning}`);
  const json = print('json', true).slice(0, -warning.length);
  expect(json.trim()).toBe(cleanText(json.trim()));
  expect(JSON.parse(json)).toBe(HOSTILE);
  expect(print('text', false)).toBe(`${HOSTILE}Warning: ${HOSTILE}\n`);
});

test('A9: a download is cleaned across the chunks of a character and of a sequence', () => {
  const bytes = Buffer.from(HOSTILE);
  const clean = createTextCleaner();
  const written = Array.from(bytes, (byte) => clean(Uint8Array.of(byte))).join('');
  expect(written).toBe(cleanText(written));
  expect(written).toMatch(/^caf\u00e9/);
});
