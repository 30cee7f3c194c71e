import { expect, test } from 'vitest';
import { readManifestHead } from './read-manifest.ts';

test.each([
  ['type: node\nruntime: node:26\nfiles: ["**"]\n', 'node', 'node:26'],
  [
    '# An app\nruntime: "ghcr.io/nextmv-io/runtime/python:3.11"\ntype: \'python\' # the language\r\n',
    'python',
    'ghcr.io/nextmv-io/runtime/python:3.11',
  ],
  ['type: binary\nruntime: native # any\nbuild:\n  type: java\n', 'binary', 'native'],
  ['{"type": "go", "runtime": "go:1", "python": null}', 'go', 'go:1'],
])('W7: type and runtime of %j', (text, executable_type, runtime) => {
  expect(readManifestHead(text)).toEqual({ executable_type, runtime });
});

test.each([
  ['runtime: node\n', 'app.yaml: type is missing'],
  ['type: [node\n', 'app.yaml is not YAML: '],
  ['type: node\nruntime: node\npython: requirements.txt\n', 'python is "requirements.txt"; it must be a map'],
])('W7: a manifest %j is refused', (text, message) => {
  expect(() => readManifestHead(text)).toThrow(message);
});
