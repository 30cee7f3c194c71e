/**
 * Fixture: owns a runner, for tests that kill it or run it as another user. Arguments: scratch folder, confinement ('' for
 * the strongest), script of the app. Prints JSON lines: the host, each log line of the app, its outcome.
 */
import { randomBytes } from 'node:crypto';
import { startRunner } from '../runner.ts';
import { createShellApp, startApp } from './runner-harness.ts';

const [folder = '', confinement = '', script = ''] = process.argv.slice(2);

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const runner = await startRunner(
  { folder, graceMs: 300, randomBytes },
  (name) => confinement === '' || name === confinement,
);
print({ host: runner.host });
const { app } = await startApp(runner, {
  files: createShellApp(script),
  limits: { memoryBytes: 256 * 2 ** 20, processes: 40 },
  onLine: (line) => print({ line }),
});
print({ outcome: await app.done });
await runner.close();
