/** Sentences about installations that failed, from output that pip 23.2 and uv 0.13 printed. */
import { expect, test } from 'vitest';
import { explainFailure } from './installation-errors.ts';

const NO_MATCH = 'ERROR: No matching distribution found for';
const skip = (file: string) =>
  `  Skipping link: none of the wheel's tags (x) are compatible (run pip debug --verbose to show compatible tags): https://packages.example/a/b/${file} (from https://index.example/simple/solver/)`;

interface Case {
  title: string;
  output: string;
  details?: string;
  expected: string;
}

test.each<Case>([
  {
    title: 'pip: wheels of the host exist for other versions of Python',
    output: `${NO_MATCH} solver>=1.0`,
    details: [
      skip('solver-1.9-cp312-cp312-manylinux_2_28_aarch64.whl'),
      skip('solver-1.10-cp39-cp39-manylinux_2_17_aarch64.manylinux2014_aarch64.whl'),
      skip('solver-1.10-cp310-cp310-manylinux_2_28_aarch64.whl'),
      skip('solver-1.10-cp313-cp313-win_amd64.whl'),
      skip('other-9.9-cp312-cp312-manylinux_2_28_aarch64.whl'),
    ].join('\n'),
    expected:
      'solver has no wheel for linux-arm64 with Python 3.11. There is: 1.9 for linux-arm64 with Python 3.12; 1.10 for linux-arm64 with Python 3.9, 3.10. Name another version or another package.',
  },
  {
    title: 'pip: wheels exist for other hosts',
    output: `${NO_MATCH} my.solver`,
    details: [
      skip('my_solver-2.0-1-cp311-cp311-musllinux_1_2_aarch64.whl'),
      skip('my_solver-2.0-cp311-cp311-macosx_11_0_universal2.whl'),
      skip('my_solver-2.0-cp311-cp311-manylinux2014_x86_64.whl'),
    ].join('\n'),
    expected: 'There is: 2.0 for darwin-x64 and arm64, linux-musl-arm64, linux-x64 with Python 3.11.',
  },
  {
    title: 'pip: other versions have a wheel',
    output: `ERROR: Could not find a version that satisfies the requirement ortools==9.0 (from versions: 9.14, 9.15)\n${NO_MATCH} ortools==9.0`,
    expected:
      'the requirements allow no version of ortools that has a wheel for linux-arm64 with Python 3.11. These have one: 9.14, 9.15. Name one of them.',
  },
  {
    title: 'pip: an unknown package',
    output: `ERROR: Could not find a version that satisfies the requirement numpi (from versions: none)\n${NO_MATCH} numpi`,
    details:
      'Could not fetch URL https://index.example/simple/numpi/: 404 Client Error: Not Found - skipping',
    expected:
      'the index has no package numpi with a wheel for linux-arm64 with Python 3.11. Check the spelling',
  },
  {
    title: 'pip: no network',
    output: `${NO_MATCH} numpy`,
    details:
      "Could not fetch URL http://index.example/simple/numpy/: connection error: Max retries exceeded (Caused by NewConnectionError('Failed to establish a new connection')) - skipping",
    expected: 'the package index cannot be reached. Check the network',
  },
  {
    title: 'pip: a line that is no requirement',
    output: "ERROR: Invalid requirement: 'foo bar' (from line 1 of r.txt)",
    expected: "a line of requirements.txt is no requirement ('foo bar' (from line 1 of r.txt)).",
  },
  {
    title: 'pip: a condition that is none',
    output:
      "pip._vendor.packaging.markers.InvalidMarker: Invalid marker: 'touch hacked', parse error at 'touch ha'",
    expected: "is no requirement ('touch hacked', parse error at 'touch ha')",
  },
  {
    title: 'pip: an option that a file may not have',
    output:
      'Usage: __main__.py [options]\n\nERROR: Invalid requirement: --target=/etc\n__main__.py: error: no such option: --target',
    expected: 'is no requirement (--target=/etc)',
  },
  {
    title: 'pip: another hash',
    output: 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated …',
    expected: 'a package differs from its hash in requirements.txt',
  },
  {
    title: 'uv: no wheel',
    output:
      'error: No solution found when resolving dependencies\n  cause: Because ortools==9.0.9048 has no wheels with a matching Python ABI tag (e.g., `cp311`) and you require ortools==9.0.9048, …\n\nhint: You require CPython 3.11 (`cp311`), but we only found wheels for `ortools` (v9.0.9048) with the following Python ABI tags: `cp38`, `cp39`',
    expected:
      'ortools has no wheel for linux-arm64 with Python 3.11. There is: `ortools` (v9.0.9048) with the following Python ABI tags: `cp38`, `cp39`.',
  },
  {
    title: 'uv: an unknown package',
    output: '  cause: Because numpi was not found in the package registry and you require numpi, …',
    expected: 'the index has no package numpi',
  },
  {
    title: 'uv: no network',
    output: 'error: Failed to fetch: http://index.example/simple/numpy/\n  cause: tcp connect error',
    expected: 'the package index cannot be reached',
  },
  {
    title: 'uv: a line that is no requirement',
    output: "error: Couldn't parse requirement in `r.txt` at position 0\n  cause: Expected one of …",
    expected: 'a line of requirements.txt is no requirement (`r.txt` at position 0)',
  },
  {
    title: 'uv: an option that a file may not have',
    output: "error: Unexpected '-', expected '-c', '-e', '-r' or the start of a requirement: r.txt:1:1",
    expected: 'is no requirement (r.txt:1:1)',
  },
  {
    title: 'uv: another hash',
    output: '  cause: Hash mismatch for `pricing==1.0`',
    expected: 'differs from its hash',
  },
  {
    title: 'anything else',
    output: 'error: the disk is full',
    expected: 'see the output of the program below.',
  },
])('$title', ({ output, details, expected }) => {
  const target = { platform: 'linux', architecture: 'arm64', python: '3.11' };
  const failed = { name: 'requirements.txt', target, python: '3.11', output };
  const message = explainFailure(details === undefined ? failed : { ...failed, details });
  expect(message).toContain(`The Python packages of requirements.txt cannot be installed: `);
  expect(message).toContain(expected);
  expect(message.endsWith(output.trim())).toBe(true);
});
