/** Starts the runner, which runs apps through its launcher and reports how they ended. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CANCEL_GRACE_MS } from '@switchyard/contract/limits.ts';
import { ExecutableCache } from './archive/executable-cache.ts';
import { hasDiskSpace } from './filesystem/disk-space.ts';
import { probeHost } from './host/probe-host.ts';
import { ExecutableCompiler } from './launcher/executable-compiler.ts';
import { LauncherClient } from './launcher/launcher-client.ts';
import { RunHandle, type RunServices } from './run-handle.ts';
import type { Confinement } from './sandbox/launch-plan.ts';
import { clearLeftoverRuns, computeMarker } from './sandbox/leftover-runs.ts';
import { removeCgroupParents } from './sandbox/run-cgroups.ts';
import type { Diagnostic, Observer, Runner, RunnerSettings, RunningApp, RunSpec } from './types.ts';

const DEFAULT_CACHE_BYTES = 20 * 1024 ** 3;

/**
 * Probes the host, kills and removes the runs that an earlier runner left in the folder, and starts the launcher. Throws
 * when the host lacks the required containment or the folder cannot be used.
 *
 * @param isConsidered selects confinements and features by name, so that tests can cover each of them.
 */
export async function startRunner(
  settings: RunnerSettings,
  isConsidered: (name: string) => boolean = () => true,
): Promise<Runner> {
  const diagnose = (diagnostic: Diagnostic): void => settings.onDiagnostic?.(diagnostic);
  await mkdir(settings.folder, { recursive: true, mode: 0o711 });
  const marker = await computeMarker(settings.folder);
  const runsFolder = join(settings.folder, 'runs');
  const leftovers = await clearLeftoverRuns(marker, runsFolder);
  if (leftovers.runs > 0) {
    const message = `${leftovers.runs} runs of an earlier runner were killed and removed.`;
    diagnose({ level: 'warn', event: 'leftovers-killed', message });
  }
  const cache = new ExecutableCache(
    join(settings.folder, 'executables'),
    settings.cacheBytes ?? DEFAULT_CACHE_BYTES,
  );
  const [{ host, confinement }] = await Promise.all([
    probeHost(settings, marker, isConsidered),
    cache.open(),
  ]);
  const { randomBytes } = settings;
  const launcher = new LauncherClient({ confinement, runsFolder, randomBytes, diagnose });
  if (!settings.launchesOnDemand) await launcher.launch();
  const graceMs = settings.graceMs ?? CANCEL_GRACE_MS;
  const compiler = new ExecutableCompiler({ host, launcher, runsFolder, graceMs, diagnose });
  const services = { host, cache, compiler, launcher, runsFolder, graceMs, diagnose };
  return new LocalRunner(settings.folder, confinement, services);
}

class LocalRunner implements Runner {
  readonly host: Runner['host'];
  readonly #folder: string;
  readonly #confinement: Confinement;
  readonly #services: RunServices;
  readonly #active = new Set<RunHandle>();
  #isClosing = false;

  constructor(folder: string, confinement: Confinement, services: RunServices) {
    this.host = services.host;
    this.#folder = folder;
    this.#confinement = confinement;
    this.#services = services;
  }

  hasDiskSpace(): boolean {
    return hasDiskSpace(this.#folder);
  }

  run(spec: RunSpec, observer: Observer): RunningApp {
    const handle = new RunHandle(spec, observer, this.#services);
    this.#active.add(handle);
    void handle.done.then(() => this.#active.delete(handle));
    if (this.#isClosing) handle.cancel();
    return handle;
  }

  async close(graceMs?: number): Promise<void> {
    const { compiler, launcher } = this.#services;
    this.#isClosing = true;
    const compilerClosed = compiler.close();
    const allDone = Promise.all([...this.#active].map((handle) => handle.done));
    for (const handle of this.#active) handle.cancel();
    if (graceMs !== undefined) await Promise.race([allDone, sleep(graceMs)]);
    else await allDone;
    await launcher.killAll();
    await Promise.all([allDone, compilerClosed]);
    await launcher.close();
    if (this.#confinement.cgroup !== undefined) await removeCgroupParents(this.#confinement.cgroup);
  }
}

async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref());
}
