/** A push rejects programs that are compiled for another host. */
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createTar, type TarEntry } from '../testing/archives.ts';
import type { ExecutableType, Host } from '../types.ts';
import { inspectArchive } from './archive.ts';
import { describeForeignProgram } from './foreign-programs.ts';

/** ELF stores the machine in two bytes at 18 (62 for x64, 183 for arm64), Mach-O in four at 4. */
function elf(machine: number): Buffer {
  const head = Buffer.alloc(200);
  head.write('\x7fELF\x02\x01\x01', 'latin1');
  head.writeUInt16LE(machine, 18);
  return head;
}
function machO(processor: number): Buffer {
  const head = Buffer.alloc(200);
  head.writeUInt32BE(0xcffaedfe, 0);
  head.writeUInt32LE(processor, 4);
  return head;
}
const X64 = elf(62);
const ARM64 = elf(183);
const MAC_ARM64 = machO(0x0100000c);

function host(platform: Host['platform'], architecture: string, python = '3.11.7') {
  return { platform, architecture, runtimes: { python: { path: '/usr/bin/python3', version: python } } };
}
const LINUX_X64 = host('linux', 'x64');
const LINUX_ARM64 = host('linux', 'arm64');
const MAC = host('darwin', 'arm64');

const DEPS = '.nextmv/python/deps';
const X64_MODULE = `${DEPS}/numpy/_core/umath.cpython-311-x86_64-linux-gnu.so`;
const ARM64_MODULE = `${DEPS}/numpy/_core/umath.cpython-311-aarch64-linux-gnu.so`;

interface ProgramCase {
  type: ExecutableType;
  files: Record<string, Buffer>;
  on: Parameters<typeof describeForeignProgram>[1];
  options?: { entrypoint?: string; workingDirectory?: string };
  /** Text of the refusal; absent when the program is accepted. */
  expected?: string;
}

async function refusal(
  type: ExecutableType,
  files: Record<string, Buffer>,
  on: Parameters<typeof describeForeignProgram>[1],
  more: { entrypoint?: string; workingDirectory?: string } = {},
): Promise<string | undefined> {
  const entries: TarEntry[] = Object.entries(files).map(([name, body]) => ({ name, body }));
  const contents = await inspectArchive(Readable.from([await createTar(entries)]));
  return describeForeignProgram({ type, contents, ...more }, on);
}

describe('B8: Python packages compiled for another host', () => {
  test.each([
    ['Set python.arch: amd64 in app.yaml', { [ARM64_MODULE]: ARM64 }, LINUX_X64],
    ['Set python.arch: arm64 in app.yaml', { [X64_MODULE]: X64 }, LINUX_ARM64],
    ['"xgboost" is built for linux-arm64', { [`${DEPS}/xgboost/lib/libxgboost.so.1.2`]: ARM64 }, LINUX_X64],
    ['npm run push does both', { [X64_MODULE]: X64 }, MAC],
    ['built for darwin-arm64', { [`${DEPS}/numpy/umath.cpython-311-darwin.so`]: MAC_ARM64 }, LINUX_X64],
    ['The Python package "pandas"', { [X64_MODULE]: X64, [`${DEPS}/pandas/lib.so`]: ARM64 }, LINUX_X64],
  ])('are refused: %s', async (words, files, on) => {
    expect(await refusal('python', files as Record<string, Buffer>, on)).toContain(words);
  });

  test.each([
    ['the same host', { [X64_MODULE]: X64 }, LINUX_X64],
    ['a package for several hosts', { [X64_MODULE]: X64, [ARM64_MODULE]: ARM64 }, LINUX_X64],
    ['a package of macOS', { [`${DEPS}/numpy/umath.cpython-311-darwin.so`]: MAC_ARM64 }, MAC],
    ['data with the name of a library', { [`${DEPS}/numpy/data.so`]: Buffer.alloc(300, 'text') }, LINUX_X64],
    ['an empty library', { [`${DEPS}/numpy/empty.so`]: Buffer.alloc(0) }, LINUX_X64],
    ['a program in bin', { [`${DEPS}/bin/uv`]: ARM64 }, LINUX_X64],
    ['a library of the app itself', { 'lib/own.so': ARM64 }, LINUX_X64],
  ])('%s is accepted', async (_what, files, on) => {
    expect(await refusal('python', files as Record<string, Buffer>, on)).toBeUndefined();
  });

  test.each([
    ['3.13.2', { [X64_MODULE]: X64 }, 'Set python.version: "3.13" in app.yaml'],
    ['3.11.7', { [X64_MODULE]: X64 }, undefined],
    ['3.13.2', { [`${DEPS}/pydantic_core/core.abi3.so`]: X64 }, undefined],
    ['3.13.2', { [X64_MODULE]: X64, [X64_MODULE.replace('311', '313')]: X64 }, undefined],
  ])('on Python %s', async (python, files, words) => {
    const message = await refusal('python', files as Record<string, Buffer>, host('linux', 'x64', python));
    if (words === undefined) expect(message).toBeUndefined();
    else expect(message).toContain(words);
  });
});

describe('B8: an entry point compiled for another host', () => {
  test.each<ProgramCase>([
    { type: 'binary', files: { main: ARM64 }, on: LINUX_X64, expected: 'GOOS: linux and GOARCH: amd64' },
    {
      type: 'go',
      files: { 'bin/solve': X64 },
      on: LINUX_ARM64,
      options: { entrypoint: './bin/solve' },
      expected: 'built for linux-x64',
    },
    {
      type: 'go',
      files: { 'bin/solve': X64 },
      on: LINUX_ARM64,
      options: { entrypoint: 'solve', workingDirectory: './bin/' },
      expected: 'GOARCH: arm64',
    },
    { type: 'binary', files: { main: MAC_ARM64 }, on: LINUX_X64, expected: 'built for darwin-arm64' },
    { type: 'binary', files: { main: X64 }, on: LINUX_X64 },
    {
      type: 'binary',
      files: { main: Buffer.from('#!/bin/sh\nexec ./solve.$(uname -m)\n'), solve: ARM64 },
      on: LINUX_X64,
    },
    { type: 'node', files: { main: ARM64 }, on: LINUX_X64 },
  ] satisfies ProgramCase[])('type $type with $files', async ({ type, files, on, options, expected }) => {
    const message = await refusal(type, files, on, options);
    if (expected === undefined) expect(message).toBeUndefined();
    else expect(message).toContain(expected);
  });
});
