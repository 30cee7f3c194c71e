/** A process that simulates: it takes over its own time and randomness, loads the server, and runs the plans that it is sent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { takeOverHost } from '../kernel/host.ts';
import type { OpenStorage } from '../world/storage.ts';
import type { SimulationReport, SimulationRequest, SourcePatch } from './messages.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Applies patches to the sources that this process loads from now on. Throws for one whose text is not there. */
function patchSources(patches: readonly SourcePatch[]): void {
  const byUrl = Map.groupBy(patches, ({ file }) => pathToFileURL(join(ROOT, file)).href);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const ofFile = byUrl.get(url);
      if (!ofFile || loaded.source === undefined || loaded.source === null) return loaded;
      let text =
        typeof loaded.source === 'string'
          ? loaded.source
          : Buffer.from(loaded.source as Uint8Array).toString();
      for (const patch of ofFile) {
        if (text.split(patch.old).length !== 2) throw new Error(`${patch.file} has not once: ${patch.old}`);
        text = text.replace(patch.old, () => patch.new);
      }
      return { ...loaded, source: text };
    },
  });
}

patchSources(JSON.parse(process.argv[2] ?? '[]'));
takeOverHost();
const { createTemplate, simulate } = await import('../world/simulate.ts');
const openStorage = process.argv[3] === 'postgres' ? await openPostgres() : undefined;

async function openPostgres(): Promise<OpenStorage> {
  const { PostgresEnvironment } = await import('../postgres/environment.ts');
  return (await PostgresEnvironment.start()).open;
}

let rejections: string[] = [];
process.on('unhandledRejection', (error) => {
  rejections.push(error instanceof Error ? `${error.stack}` : String(error));
});

async function run({ plan, keepsTrace }: SimulationRequest): Promise<SimulationReport> {
  rejections = [];
  const before = process.cpuUsage();
  const outcome = await simulate(plan, template, { keepsTrace, openStorage });
  const { user, system } = process.cpuUsage(before);
  const unheard = rejections.map((detail) => ({ promise: 'no rejection is unheard', detail }));
  return {
    violations: [...outcome.violations, ...unheard],
    trace: outcome.trace,
    lines: outcome.lastLines,
    events: outcome.events,
    simulatedMs: outcome.simulatedMs,
    processorMs: (user + system) / 1000,
    transitions: Object.fromEntries(outcome.transitions),
    faults: Object.fromEntries(outcome.faults),
    jobs: Object.fromEntries(outcome.jobs),
    logs: Object.fromEntries(outcome.logs),
    answers: Object.fromEntries(outcome.answers),
  };
}

process.on('message', (request: SimulationRequest) => {
  run(request).then(
    (report) => process.send?.({ report }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? String(error.stack) : String(error) }),
  );
});
const folder = mkdtempSync('/dev/shm/switchyard-template-');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit());
process.on('disconnect', () => process.exit());
const template = await createTemplate(folder, openStorage);
process.send?.({ isReady: true });
