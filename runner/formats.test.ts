/** Formats, entry points, runtimes, secrets and isolation of an app. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunner } from './runner.ts';
import {
  createArchiveInput,
  createJar,
  createTar,
  createTarOfFiles,
  readArchiveFiles,
  type TarEntry,
} from './testing/archives.ts';
import {
  createScratchFolder,
  createShellApp,
  removeFolder,
  runApp,
  startApp,
} from './testing/runner-harness.ts';
import type { Containment, Runner } from './types.ts';

const SECRET = `secret-of-the-server-${process.pid}`;
process.env.SWITCHYARD_TEST_SECRET = SECRET;

async function runnerAt(level: Containment, folder: string): Promise<Runner | undefined> {
  try {
    return await startRunner({ folder, randomBytes, containment: level, graceMs: 300 });
  } catch (error) {
    console.warn(`\n!!! SKIPPED level ${level}: ${error}\n`);
    return undefined;
  }
}

for (const level of ['sandbox', 'limits'] as const) {
  const folder = createScratchFolder();
  const started = await runnerAt(level, folder);

  describe.skipIf(started === undefined)(`at level ${level}`, () => {
    let runner: Runner;
    beforeAll(() => {
      if (started === undefined) throw new Error('unreachable');
      runner = started;
      expect(runner.host.containment).toBe(level);
      expect(runner.host.containmentReason === '').toBe(level === 'sandbox');
    });
    afterAll(async () => {
      await started?.close();
      removeFolder(folder);
    });

    test('csv-archive: reads ./input and returns ./output, with or without a wrapping folder', async () => {
      const app = createShellApp(
        'mkdir -p output; sort input/a.csv > output/sorted.csv; cat input/sub/b.csv > output/b.csv; cat; echo "{\\"statistics\\": {}}"',
      );
      for (const wrapper of ['', 'input/', 'inputs/']) {
        const bytes = await createTarOfFiles({ [`${wrapper}a.csv`]: '2\n1\n', [`${wrapper}sub/b.csv`]: 'b' });
        const { outcome, stdout } = await runApp(runner, {
          files: app,
          input: createArchiveInput('csv-archive', bytes),
        });
        expect(outcome).toMatchObject({ succeeded: true });
        expect(stdout).toBe('{"statistics": {}}\n');
        expect(await readArchiveFiles(outcome.solutions?.path)).toEqual({
          'sorted.csv': '1\n2\n',
          'b.csv': 'b',
        });
      }
    });

    test('multi-file: reads ./inputs, returns new files of ./outputs, and logs both streams', async () => {
      const { outcome, lines } = await runApp(runner, {
        files: {
          ...createShellApp(`
cat inputs/größe.txt
echo on stderr >&2
echo new > outputs/solutions/deep.txt; mkdir outputs/solutions/d; echo x > 'outputs/solutions/d/ü b.txt'
echo changed > outputs/solutions/shipped-changed.txt
ln -s /etc/passwd outputs/solutions/link; ln -s /etc outputs/solutions/links; mkfifo outputs/solutions/pipe
echo '{"statistics": {}}' > outputs/statistics/statistics.json
echo '{"assets": []}' > outputs/assets/assets.json
ln -s /etc/passwd outputs/metrics/metrics.json`),
          'outputs/solutions/shipped.txt': 'shipped',
          'outputs/solutions/shipped-changed.txt': 'shipped',
        },
        input: createArchiveInput('multi-file', await createTarOfFiles({ 'größe.txt': 'from the input\n' })),
      });
      expect(outcome).toMatchObject({ succeeded: true, isLogTruncated: false });
      expect(lines.map((line) => `${line.stream} ${line.text}`).sort()).toEqual([
        'stderr on stderr',
        'stdout from the input',
      ]);
      expect(await readArchiveFiles(outcome.solutions?.path)).toEqual({
        'deep.txt': 'new\n',
        'd/ü b.txt': 'x\n',
        'shipped-changed.txt': 'changed\n',
      });
      expect(readFileSync(outcome.statistics?.path ?? '', 'utf8')).toBe('{"statistics": {}}\n');
      expect(outcome.assets?.bytes).toBe('{"assets": []}\n'.length);
      expect(outcome.metrics).toBeUndefined();
    });

    test('multi-file uses the paths of the manifest in a working directory', async () => {
      const { outcome } = await runApp(runner, {
        files: { 'src/go.sh': '#!/bin/sh\ncat data/in.txt > results/out.txt; echo {} > s.json\n' },
        entrypoint: './src/go.sh',
        workingDirectory: './src/',
        content: { inputPath: 'data', solutionsPath: './results', statisticsPath: 's.json' },
        input: createArchiveInput('multi-file', await createTarOfFiles({ 'inputs/in.txt': 'hello' })),
      });
      expect(outcome).toMatchObject({ succeeded: true });
      expect(await readArchiveFiles(outcome.solutions?.path)).toEqual({ 'out.txt': 'hello' });
      expect(outcome.statistics?.bytes).toBe(3);
    });

    test('without new files there are no solutions', async () => {
      const { outcome } = await runApp(runner, {
        files: { ...createShellApp('true'), 'output/shipped.csv': 'x' },
        input: createArchiveInput('csv-archive', await createTarOfFiles({ 'a.csv': '' })),
      });
      expect(outcome).toMatchObject({ succeeded: true });
      expect(outcome.solutions).toBeUndefined();
    });

    test('a hostile input archive is rejected with the name of its entry', async () => {
      const hostile: TarEntry[] = [{ name: '../evil', body: 'x' }];
      const { outcome } = await runApp(runner, {
        files: createShellApp('true'),
        input: createArchiveInput('csv-archive', await createTar(hostile)),
      });
      expect(outcome).toMatchObject({ succeeded: false, reason: 'bad-input-archive' });
      expect(outcome.error).toContain('"../evil"');
    });

    test('input and secrets do not follow a link of the executable', async () => {
      const { outcome, stdout } = await runApp(runner, {
        files: await createTar([
          { name: 'main', body: '#!/bin/sh\nfind . -type f | sort; cat here/s\n' },
          { name: 'here', type: 'symlink', linkname: 'real' },
          { name: 'real/x', body: '' },
        ]),
        secretFiles: [{ location: 'here/s', value: 'inside\n' }],
      });
      expect(outcome).toMatchObject({ succeeded: true });
      expect(stdout).toBe('./main\n./real/s\n./real/x\ninside\n');
    });

    test('python: runs main.py with its dependencies, unbuffered and without bytecode', async (context) => {
      if (runner.host.runtimes.python === undefined)
        return context.skip('This host has no python3 for apps.');
      const { outcome, stdout } = await runApp(runner, {
        type: 'python',
        files: {
          'main.py':
            'import json, sys, os, dep\nprint(json.dumps([dep.NAME, json.load(sys.stdin), sys.argv[1:], os.path.basename(__file__)]))\n',
          '.nextmv/python/deps/dep.py': 'NAME = "dépendance"\n',
        },
        stdin: '{"x": 1}',
        arguments: ['-duration', '1'],
      });
      expect(outcome).toMatchObject({ succeeded: true });
      expect(JSON.parse(stdout)).toEqual(['dépendance', { x: 1 }, ['-duration', '1'], 'main.py']);
    });

    test('node: runs main.ts with a heap that fits its memory limit', async () => {
      const { outcome, stdout } = await runApp(runner, {
        type: 'node',
        files: {
          'main.ts':
            "import { getHeapStatistics } from 'node:v8';\nconst size: number = getHeapStatistics().heap_size_limit;\nconsole.log(JSON.stringify({ size }));\n",
        },
        limits: { memoryBytes: 400 * 2 ** 20 },
      });
      expect(outcome).toMatchObject({ succeeded: true });
      expect(JSON.parse(stdout).size).toBeLessThan(400 * 2 ** 20);
    });

    test('java: runs main.jar', async (context) => {
      const jar = runner.host.runtimes.java === undefined ? undefined : createJar();
      if (jar === undefined)
        return context.skip('This host has no java for apps, or no compiler to make one.');
      const { outcome, stdout, lines } = await runApp(runner, {
        type: 'java',
        files: await createTar([{ name: 'main.jar', body: jar }]),
        arguments: ['-a', 'b'],
      });
      expect(lines.map((line) => line.text)).toEqual([]);
      expect(outcome).toMatchObject({ succeeded: true });
      expect(stdout).toBe('-a b\n');
    });

    test('a large program runs without being copied', async () => {
      const { outcome, stdout } = await runApp(runner, {
        files: await createTar([
          { name: 'main', body: `#!/bin/sh\necho "$1"; exit 0\n${'#'.repeat(2 ** 20)}` },
        ]),
        arguments: ['large'],
      });
      expect(outcome).toMatchObject({ succeeded: true });
      expect(stdout).toBe('large\n');
    });

    test.each([
      ['no entry point', { files: { 'other.py': '' }, type: 'python' as const }, 'no entry point "main.py"'],
      ['a named entry point that is not there', { files: { main: '' }, entrypoint: './x' }, '"x"'],
      ['an entry point outside', { files: { main: '' }, entrypoint: '../x' }, '"../x"'],
      [
        'a missing working directory',
        { files: createShellApp('true'), workingDirectory: 'nowhere' },
        '"nowhere"',
      ],
      ['a text that is no program', { files: { main: 'just text' } }, 'neither a Linux program'],
      ['a program for another machine', { files: { main: elf(0x28) } }, 'built for arm,'],
      [
        'a secret outside the folder',
        { files: createShellApp('true'), secretFiles: [{ location: '../s', value: '' }] },
        '"../s"',
      ],
      [
        'a secret at a system path',
        { files: createShellApp('true'), secretFiles: [{ location: '/etc/s', value: '' }] },
        '"/etc/s"',
      ],
    ])('not startable: %s', async (_what, spec, names) => {
      const { outcome, stdout } = await runApp(runner, spec);
      expect(outcome).toMatchObject({ succeeded: false, reason: 'not-startable', executionMs: 0 });
      expect(outcome.error).toContain(names);
      expect(stdout).toBe('');
    });

    test('a program without the executable bit starts', async () => {
      const { outcome } = await runApp(runner, {
        files: await createTar([{ name: 'main', body: '#!/bin/sh\n', mode: 0o644 }]),
      });
      expect(outcome).toMatchObject({ succeeded: true });
    });

    test('an executable with another hash is rejected', async () => {
      const { app } = await startApp(runner, { files: createShellApp('true') });
      await app.done;
      const bytes = await createTarOfFiles(createShellApp('exit 0'));
      const other = runner.run(
        {
          key: 'wrong-hash',
          executable: { hash: 'f'.repeat(64), open: async () => Readable.from([bytes]) },
          type: 'binary',
          arguments: [],
          environment: {},
          secretFiles: [],
          input: { format: 'json', open: async () => Readable.from(['']) },
          outputFormat: 'json',
          limits: {
            cores: 1,
            memoryBytes: 2 ** 28,
            durationMs: 5000,
            outputBytes: 1,
            logBytes: 1,
            fileBytes: 1,
            files: 1,
            processes: 1,
            openFiles: 1,
          },
          network: false,
        },
        { onStart: () => undefined, onLog: () => undefined },
      );
      expect(await other.done).toMatchObject({ kind: 'ended', reason: 'bad-executable' });
    });

    test('secret files have their value, are readable for the app alone, and may be in folders', async () => {
      const { stdout } = await runApp(runner, {
        files: createShellApp('cat keys/a.txt; stat -c " %a" keys/a.txt'),
        secretFiles: [{ location: 'keys/a.txt', value: 'välue' }],
      });
      expect(stdout).toBe('välue 600\n');
    });

    // Only a sandbox has paths of its own.
    test.skipIf(level === 'limits')('secret files at absolute paths of the sandbox', async () => {
      const { stdout } = await runApp(runner, {
        files: createShellApp('cat /tmp/a/s /app/t'),
        secretFiles: [
          { location: '/tmp/a/s', value: 'one ' },
          { location: '/app/t', value: 'two' },
        ],
      });
      expect(stdout).toBe('one two');
    });

    test('the app has its own environment and no variable of the server', async () => {
      const { stdout } = await runApp(runner, {
        type: 'node',
        files: {
          'main.mjs': `import { readdirSync, readFileSync } from 'node:fs';
const seen = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map((pid) => {
  try { return readFileSync('/proc/' + pid + '/environ', 'utf8'); } catch { return ''; }
});
console.log(JSON.stringify({ own: process.env, seen: seen.join() }));
`,
        },
        environment: { MINE: 'yes', OPTIND: 'no number', UID: '7', IFS: 'x', SWITCHYARD_RUN: 'forged' },
      });
      expect(JSON.parse(stdout).own).toMatchObject({ MINE: 'yes', OPTIND: 'no number', UID: '7', IFS: 'x' });
      expect(stdout).not.toContain(SECRET);
      expect(stdout).not.toContain('forged');
    });

    test('W17: the app cannot read another run, or the host says that it can', async () => {
      const ready = Promise.withResolvers<void>();
      const { app: other } = await startApp(runner, {
        files: createShellApp('echo treasure > note; cp note "$TMPDIR"; pwd >&2; sleep 20'),
        secretFiles: [{ location: 'key', value: 'treasure' }],
        onLine: () => ready.resolve(),
      });
      await ready.promise;
      const { stdout } = await runApp(runner, {
        files: createShellApp(
          `grep -rs treasure ${folder} /tmp/note /app/note /app/key; ls ${folder}/runs/*/work; echo done`,
        ),
      });
      // Without root, apps at level limits have the server's user, and its rights.
      const isPrivate = level === 'sandbox' || process.getuid?.() === 0;
      expect(stdout).toEqual(isPrivate ? 'done\n' : expect.stringContaining('note:treasure'));
      const sharing = "Apps have all rights of the server's user.";
      expect(runner.host.notHeld.some((gap) => gap.startsWith(sharing))).toBe(!isPrivate);
      other.cancel();
      await other.done;
    });

    test('the app has network only when the run allows it', async () => {
      const server = createServer((socket) => socket.end('hello'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const files = {
        'main.mjs': `import { connect } from 'node:net';\nconnect(${port}, '127.0.0.1').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code));\n`,
      };
      const closed = await runApp(runner, { type: 'node', files, network: false });
      const open = await runApp(runner, { type: 'node', files, network: true });
      server.close();
      expect(open.stdout).toBe('hello\n');
      expect(closed.stdout).toBe(level === 'sandbox' ? 'ECONNREFUSED\n' : 'hello\n');
    });

    // At level limits an app sees whatever its user may see.
    test.skipIf(level === 'limits')(
      'the sandbox shows only its own processes and is read-only elsewhere',
      async () => {
        const { stdout } = await runApp(runner, {
          files: createShellApp(`
ls -d /proc/[0-9]* | wc -l
for place in / /usr /etc /dev /app/.. /proc/sys/kernel; do touch $place/x 2>/dev/null && echo "wrote $place"; done
touch /app/x /tmp/x /dev/shm/x && echo own
ls /root /home ${folder} 2>/dev/null
cat /etc/shadow 2>/dev/null
hostname; id -u`),
        });
        const [processes, ...rest] = stdout.trim().split('\n');
        expect(Number(processes)).toBeLessThan(8);
        expect(rest.slice(0, 1)).toEqual(['own']);
        expect(rest.at(-2)).toBe('app');
        expect(Number(rest.at(-1))).toBeGreaterThan(0);
        expect(stdout).not.toContain('wrote');
        expect(stdout).not.toMatch(/^runs$/m);
      },
    );

    test('an invalid run ends with an error', async () => {
      const bad = await runApp(runner, { files: createShellApp('true'), environment: { 'A=B': '' } });
      expect(bad.outcome).toMatchObject({ reason: 'not-startable' });
      const key = await startApp(runner, { files: createShellApp('true'), key: '../x' });
      expect(await key.app.done).toMatchObject({ kind: 'ended', reason: 'not-startable' });
    });
  });
}

/** Returns the first bytes of a 64-bit program for a machine. */
function elf(machine: number): string {
  const head = Buffer.alloc(128);
  head.write('\x7fELF\x02\x01\x01', 'latin1');
  head.writeUInt16LE(2, 16);
  head.writeUInt16LE(machine, 18);
  // Bytes below 0x80 survive the conversion to text.
  return head.toString('latin1');
}
