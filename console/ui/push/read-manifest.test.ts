import { expect, test } from 'vitest';
import { readManifestHead } from './read-manifest.ts';

test.each([
  ['type: node\nruntime: node:26\nfiles: ["**"]\n', 'node', 'node:26'],
  [
    '# An app\nruntime: "ghcr.io/nextmv-io/runtime/python:3.11"\ntype: \'python\' # the language\r\n',
    'python',
    'ghcr.io/nextmv-io/runtime/python:3.11',
  ],
  ['type: binary\nruntime: native # any\nnested:\n  type: java\n', 'binary', 'native'],
])('type and runtime of %j', (text, executable_type, runtime) => {
  expect(readManifestHead(text)).toEqual({ executable_type, runtime });
});

test.each([
  ['runtime: node\n', 'type of app.yaml is "". It must be one of'],
  ['type: ruby\nruntime: x\n', 'type of app.yaml is "ruby"'],
  ['type: node\n', 'app.yaml has no runtime'],
])('a manifest %j is refused', (text, message) => {
  expect(() => readManifestHead(text)).toThrow(message);
});
