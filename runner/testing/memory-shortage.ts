/**
 * A process that owns a runner, started in a memory cgroup with a limit: a small app and one that takes memory which no
 * process shows. Arguments: scratch folder, way of holding apps, milliseconds from one step of the large app to the next.
 * Prints how both ended, as JSON.
 */
import { expectEnded, MIB, startApp, startRunnerConfinedBy } from './runner-harness.ts';

const [folder = '', way = '', pace = '0'] = process.argv.slice(2);
const runner = await startRunnerConfinedBy(way, folder);
if (runner === undefined) throw new Error(`This host cannot hold apps by ${way}.`);

const python = (script: string) => ({ type: 'python' as const, files: { 'main.py': script } });
const hoard = python(
  `import mmap, sys, time
print('up', file=sys.stderr, flush=True)
m = mmap.mmap(-1, 4000 << 20)
for at in range(0, 4000 << 20, 8 << 20):
  m[at:at + (8 << 20)] = b'x' * (8 << 20); m.madvise(mmap.MADV_DONTNEED); time.sleep(${Number(pace) / 1000})
`,
);
const small = python(
  `import sys, time
kept = b'x' * (40 << 20); print('up', file=sys.stderr, flush=True); time.sleep(60)
`,
);
const limits = { memoryBytes: 4096 * MIB };
const up = Promise.withResolvers<void>();
const one = await startApp(runner, { ...small, limits, onLine: () => up.resolve() });
await up.promise;
const other = await startApp(runner, { ...hoard, limits });
const large = expectEnded(await other.app.done);
one.app.cancel();
const ends = { large, small: expectEnded(await one.app.done) };
const told = Object.entries(ends).map(([name, { reason, error }]) => [name, { reason, error }]);
process.stdout.write(JSON.stringify({ ...Object.fromEntries(told), memoryBytes: runner.host.memoryBytes }));
await runner.close();
