/**
 * A process that owns a runner and has it run every attack, at once where they do not disturb each other; so that it can be
 * another user's. Arguments: scratch folder, way of holding apps, names of attacks as JSON. Prints JSON lines: the host, each
 * attack's name with its verdict and its end, and what is left of the runs.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runner } from '../types.ts';
import { ATTACK_LIMITS, ATTACKS } from './attacks.ts';
import { runApp, startRunnerConfinedBy } from './runner-harness.ts';

const [folder = '', way = '', wanted = '[]'] = process.argv.slice(2);
const ALONE = 'memory that no process shows, on a host that has none left';
const AT_ONCE = 4;

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function attack(runner: Runner, name: string): Promise<void> {
  const found = ATTACKS[name];
  if (found === undefined) throw new Error(`There is no attack "${name}".`);
  const limits = {
    ...ATTACK_LIMITS,
    ...(name === 'SIGTERM ignored' ? { durationMs: 500 } : {}),
    ...found.spec.limits,
  };
  const free = found.allowsHardLinks ? allowHardLinks() : undefined;
  const end = await runApp(runner, { arguments: [secret], ...found.spec, limits });
  free?.();
  const { reason, error, exitCode, containment } = end.outcome;
  const verdict = found.classify({ ...end, host: runner.host });
  await end.app.dispose();
  say({ name, verdict, end: { reason, error, exitCode, containment, stdout: end.stdout.slice(0, 200) } });
}

/** As on a host with the kernel's default, where anybody may link to any file. Returns a function that undoes it. */
function allowHardLinks(): (() => void) | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const setting = '/proc/sys/fs/protected_hardlinks';
  const before = readFileSync(setting, 'utf8');
  writeFileSync(setting, '0');
  return () => writeFileSync(setting, before);
}

/** A file of the server's, which every app is told of. */
const secret = join(folder, 'secret');
writeFileSync(secret, 'secret', { mode: 0o600 });
const names: string[] = JSON.parse(wanted);
async function start(keepFreeBytes?: number): Promise<Runner> {
  const settings = {
    graceMs: 200,
    ...(keepFreeBytes === undefined ? {} : { reservedMemoryBytes: keepFreeBytes }),
  };
  const started = await startRunnerConfinedBy(way, folder, settings);
  if (started !== undefined) return started;
  say({ impossible: true });
  process.exit(0);
}
const runner = await start();
say({ host: runner.host });
const left = names.filter((name) => name !== ALONE);
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await attack(runner, name);
  }),
);
await runner.close();
if (names.includes(ALONE)) {
  // A host on which more must be free than there is.
  const short = await start(Number.MAX_SAFE_INTEGER);
  await attack(short, ALONE);
  await short.close();
}
say({ left: readdirSync(join(folder, 'runs')) });
