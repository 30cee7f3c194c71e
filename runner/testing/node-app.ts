/**
 * Runs a Node app at the strongest level under the Node that runs this, and prints its outcome. Argument: scratch folder.
 */
import { startRunner } from '../runner.ts';
import { runApp } from './runner-harness.ts';

const runner = await startRunner({ folder: process.argv[2] ?? '' });
const { outcome, stdout } = await runApp(runner, { type: 'node', files: { 'main.js': 'console.log("{}")' } });
process.stdout.write(JSON.stringify({ level: outcome.containment, error: outcome.error, stdout }));
await runner.close();
