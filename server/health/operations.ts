/** Health, readiness and metrics of this process. */
import { API_VERSION } from '@switchyard/contract/limits.ts';
import type { Host } from '@switchyard/runner';
import type { HandlerOf } from '../http/handlers/handler.ts';
import type { StorageProbe } from './storage-probe.ts';

declare module '../http/handlers/context.ts' {
  interface Context {
    storage: StorageProbe;
    /** Why the process takes no work; empty while it does. */
    notReadyReason(): string;
  }
}

export const getHealth: HandlerOf<'getHealth'> = async () => ({ status: 200, body: { status: 'ok' } });

export const getReadiness: HandlerOf<'getReadiness'> = async ({ storage, host, notReadyReason }) => {
  const reason = notReadyReason() || (await storage.findFault());
  const body = {
    status: reason === '' ? ('ready' as const) : ('not ready' as const),
    reason,
    version: API_VERSION,
    database: storage.kind,
    containment: host?.containment ?? '',
    containment_reason: host?.containmentReason ?? '',
    enforcement: host ? { ...host.enforcement } : {},
    not_held: host?.notHeld ?? [],
    runtimes: host ? formatRuntimes(host) : {},
  };
  return reason === '' ? { status: 200, body } : { status: 503, body };
};

export const getMetrics: HandlerOf<'getMetrics'> = async ({ metrics }) => ({
  status: 200,
  raw: await metrics.registry.metrics(),
  contentType: metrics.registry.contentType,
});

function formatRuntimes(
  host: Host,
): Record<string, { available: boolean; version: string; missing: string }> {
  const names = ['node', 'python', 'java'] as const;
  const compiled = { available: true, version: `${host.platform}-${host.architecture}`, missing: '' };
  return {
    ...Object.fromEntries(
      names.map((name) => {
        const runtime = host.runtimes[name];
        return [
          name,
          {
            available: runtime !== undefined,
            version: runtime?.version ?? '',
            missing: host.missingRuntimes[name] ?? '',
          },
        ];
      }),
    ),
    go: compiled,
    binary: compiled,
  };
}
