/** Fixture: runs a Node app at the strongest level with the Node of this process; prints its outcome. Argument: scratch folder. */
import { randomBytes } from 'node:crypto';
import { startRunner } from '../runner.ts';
import { runApp } from './runner-harness.ts';

const runner = await startRunner({ folder: process.argv[2] ?? '', randomBytes });
const { outcome, stdout } = await runApp(runner, { type: 'node', files: { 'main.js': 'console.log("{}")' } });
process.stdout.write(JSON.stringify({ level: outcome.containment, error: outcome.error, stdout }));
await runner.close();
