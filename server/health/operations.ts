/** Health, readiness and numbers of this process. */
import { API_VERSION } from '@switchyard/contract/limits.ts';
import type { Host } from '@switchyard/runner';
import type { HandlersFor } from '../http/handlers/handler.ts';
import type { Metrics } from '../http/metrics.ts';
import type { StorageProbe } from './storage-probe.ts';

interface Parts {
  storage: StorageProbe;
  metrics: Metrics;
  /** null where no apps run. */
  host: Host | null;
  /** Why the process does not take work, or empty. */
  notReadyReason(): string;
}

export function serviceHandlers(parts: Parts): HandlersFor<'getHealth' | 'getReadiness' | 'getMetrics'> {
  const { storage, metrics, host } = parts;
  return {
    async getHealth() {
      return { status: 200, body: { status: 'ok' } };
    },

    async getReadiness() {
      const reason = parts.notReadyReason() || (await storage.findFault());
      const body = {
        status: reason === '' ? ('ready' as const) : ('not ready' as const),
        reason,
        version: API_VERSION,
        database: storage.kind,
        containment: host?.containment ?? '',
        containment_reason: host?.containmentReason ?? '',
        enforcement: host ? { ...host.enforcement } : {},
        not_held: host?.notHeld ?? [],
        runtimes: host ? runtimesOf(host) : {},
      };
      return reason === '' ? { status: 200, body } : { status: 503, body };
    },

    async getMetrics() {
      return {
        status: 200,
        raw: await metrics.registry.metrics(),
        contentType: metrics.registry.contentType,
      };
    },
  };
}

function runtimesOf(host: Host): Record<string, { available: boolean; version: string; missing: string }> {
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
