/**
 * Fixture: owns a runner in a memory cgroup with a limit, and runs a small app beside one that uses memory which no process
 * shows. Arguments: scratch folder, confinement, milliseconds between two steps of the large app. Prints both ends as JSON.
 */
import { expectEnded, MIB, startApp, startRunnerConfinedBy } from './runner-harness.ts';

const [folder = '', confinement = '', stepMs = '0'] = process.argv.slice(2);
const runner = await startRunnerConfinedBy(confinement, folder);
if (runner === undefined) throw new Error(`This host does not support the confinement "${confinement}".`);

const python = (script: string) => ({ type: 'python' as const, files: { 'main.py': script } });
const hoard = python(
  `import mmap, sys, time
print('up', file=sys.stderr, flush=True)
m = mmap.mmap(-1, 4000 << 20)
for at in range(0, 4000 << 20, 8 << 20):
  m[at:at + (8 << 20)] = b'x' * (8 << 20); m.madvise(mmap.MADV_DONTNEED); time.sleep(${Number(stepMs) / 1000})
`,
);
const small = python(
  `import sys, time
kept = b'x' * (40 << 20); print('up', file=sys.stderr, flush=True); time.sleep(60)
`,
);
const limits = { memoryBytes: 4096 * MIB };
const smallAppReady = Promise.withResolvers<void>();
const smallApp = await startApp(runner, { ...small, limits, onLine: () => smallAppReady.resolve() });
await smallAppReady.promise;
const largeApp = await startApp(runner, { ...hoard, limits });
const large = expectEnded(await largeApp.app.done);
smallApp.app.cancel();
const outcomes = { large, small: expectEnded(await smallApp.app.done) };
const reasons = Object.entries(outcomes).map(([name, { reason, error, hostFault }]) => [
  name,
  { reason, error, hostFault },
]);
process.stdout.write(
  JSON.stringify({ ...Object.fromEntries(reasons), memoryBytes: runner.host.memoryBytes }),
);
await runner.close();
