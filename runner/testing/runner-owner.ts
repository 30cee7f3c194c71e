/**
 * A process that owns a runner, for the tests that kill it or run it as another user.
 * Arguments: scratch folder, way of holding apps ('' for the strongest), script of the app. Prints JSON lines:
 * the host, each log line of the app, its outcome.
 */

import { startRunnerWithFilter } from '../runner.ts';
import { createShellApp, startApp } from './runner-harness.ts';

const [folder = '', way = '', script = ''] = process.argv.slice(2);

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const runner = await startRunnerWithFilter({ folder, graceMs: 300 }, (name) => way === '' || name === way);
say({ host: runner.host });
const { app } = await startApp(runner, {
  files: createShellApp(script),
  limits: { memoryBytes: 256 * 2 ** 20, processes: 40 },
  onLine: (line) => say({ line }),
});
say({ outcome: await app.done });
await runner.close();
