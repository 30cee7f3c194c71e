/**
 * Fixture: owns a runner and runs the attacks, several at a time, as a process so that it can run as another user.
 * Arguments: scratch folder, confinement, names of attacks as JSON. Prints JSON lines: the host, each attack's name with
 * its result and end, and the leftover run folders.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runner } from '../types.ts';
import { ATTACK_LIMITS, ATTACKS } from './attacks.ts';
import { runApp, startRunnerConfinedBy } from './runner-harness.ts';

const [folder = '', confinement = '', requestedNames = '[]'] = process.argv.slice(2);
/** Affects all other runs of the host. */
const EXCLUSIVE_ATTACK = 'memory that no process shows, on a host that has none left';
const CONCURRENT_ATTACKS = 4;

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function runAttack(runner: Runner, name: string): Promise<void> {
  const definition = ATTACKS[name];
  if (definition === undefined) throw new Error(`There is no attack "${name}".`);
  const limits = {
    ...ATTACK_LIMITS,
    ...(name === 'SIGTERM ignored' ? { durationMs: 500 } : {}),
    ...definition.spec.limits,
  };
  const restoreHardLinks = definition.allowsHardLinks ? allowHardLinks() : undefined;
  const end = await runApp(runner, { arguments: [secret], ...definition.spec, limits });
  restoreHardLinks?.();
  const { reason, error, exitCode, containment } = end.outcome;
  const result = definition.classify({ ...end, host: runner.host });
  await end.app.dispose();
  print({ name, result, end: { reason, error, exitCode, containment, stdout: end.stdout.slice(0, 200) } });
}

/** Lets any user link to any file, as the kernel does by default. Returns a function that restores the setting. */
function allowHardLinks(): (() => void) | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const setting = '/proc/sys/fs/protected_hardlinks';
  const previousValue = readFileSync(setting, 'utf8');
  writeFileSync(setting, '0');
  return () => writeFileSync(setting, previousValue);
}

/** A file of the server whose path every app receives. */
const secret = join(folder, 'secret');
writeFileSync(secret, 'secret', { mode: 0o600 });
const names: string[] = JSON.parse(requestedNames);
async function start(reservedMemoryBytes?: number): Promise<Runner> {
  const settings = {
    graceMs: 200,
    ...(reservedMemoryBytes === undefined ? {} : { reservedMemoryBytes }),
  };
  const started = await startRunnerConfinedBy(confinement, folder, settings);
  if (started !== undefined) return started;
  print({ impossible: true });
  process.exit(0);
}
const runner = await start();
print({ host: runner.host });
const remaining = names.filter((name) => name !== EXCLUSIVE_ATTACK);
await Promise.all(
  Array.from({ length: CONCURRENT_ATTACKS }, async () => {
    for (let name = remaining.shift(); name !== undefined; name = remaining.shift())
      await runAttack(runner, name);
  }),
);
await runner.close();
if (names.includes(EXCLUSIVE_ATTACK)) {
  // Reserves more memory than the host has, so that it is always short of memory.
  const short = await start(Number.MAX_SAFE_INTEGER);
  await runAttack(short, EXCLUSIVE_ATTACK);
  await short.close();
}
print({ left: readdirSync(join(folder, 'runs')) });
