/** B9: compares the runtime version of a manifest with that of the host. */
import { describe, expect, test } from 'vitest';
import { describeRuntimeMismatch, findRuntimeVersion } from './runtime-version.ts';

const HOST = {
  runtimes: {
    node: { path: '/usr/bin/node', version: '26.10.0' },
    python: { path: '/usr/bin/python3', version: '3.11.7' },
  },
  missingRuntimes: { java: 'There is no working java in the PATH of this host.' },
};

describe('B9: a runtime of another version', () => {
  test.each([
    ['python', 'ghcr.io/nextmv-io/runtime/python:3.13', 'this server runs the app with Python 3.11.7'],
    ['python', 'python:3.1', 'Python 3.11.7'],
    ['python', 'python3.12', 'Python 3.11.7'],
    ['python', 'python:2', 'Python 3.11.7'],
    ['node', 'node:22', 'Node 26.10.0'],
    ['java', 'ghcr.io/nextmv-io/runtime/java:latest', 'lacks; its runs will fail. There is no working java'],
  ] as const)('%s with %s is reported', (type, runtime, words) => {
    expect(describeRuntimeMismatch(type, runtime, HOST)).toContain(words);
  });

  test.each([
    ['python', 'ghcr.io/nextmv-io/runtime/python:3.11'],
    ['python', 'registry:5000/python:3.11.7'],
    ['python', 'python:3'],
    ['python', 'python'],
    ['python', 'ghcr.io/nextmv-io/runtime/pyomo:latest'],
    ['python', 'micropython:1.2'],
    ['node', 'node:26'],
    ['binary', 'python:3.13'],
  ] as const)('%s with %s is not reported', (type, runtime) => {
    expect(describeRuntimeMismatch(type, runtime, HOST)).toBeUndefined();
  });

  test('a compiled program has no runtime version', () => {
    expect(findRuntimeVersion('python', HOST)).toBe('3.11.7');
    expect(findRuntimeVersion('java', HOST)).toBeUndefined();
    expect(findRuntimeVersion('go', HOST)).toBeUndefined();
  });
});
