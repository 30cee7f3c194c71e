/** The operations for health, readiness and metrics of this process. */
import { API_VERSION } from '@switchyard/contract/limits.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import type { Host } from '@switchyard/runner';
import { managesServer } from '../../accounts/account/store.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';

/** Returns 200 while the process can respond at all; a failure means that it needs a restart. */
export const getHealth: OperationHandler<'getHealth'> = async () => ({ status: 200, body: { status: 'ok' } });

/** Returns 200 when the process accepts work and can write to its storage, and 503 with the reason otherwise. */
export const getReadiness: OperationHandler<'getReadiness'> = async (context) => {
  const { storage, host, notReadyReason, leadership } = context;
  const reason = notReadyReason() || (await storage.findFault());
  const body = {
    status: reason === '' ? ('ready' as const) : ('not ready' as const),
    reason,
    version: API_VERSION,
    database: storage.kind,
    leads: leadership.isLeader,
    containment: host?.containment ?? '',
    containment_reason: host?.containmentReason ?? '',
    enforcement: host ? { ...host.enforcement } : {},
    not_held: host?.notHeld ?? [],
    runtimes: host ? formatRuntimes(host) : {},
  };
  return reason === '' ? { status: 200, body } : { status: 503, body };
};

/**
 * Returns the metrics in the text format of Prometheus. Those by application name accounts and applications, so a caller
 * without a token does not get them, nor one who sees a single account of several.
 */
export const getMetrics: OperationHandler<'getMetrics'> = async (context, { optionalCaller }) => {
  const { metrics, database } = context;
  const role = optionalCaller?.role;
  const isManager = role && hasRight(role, 'read') && (await managesServer(database.read, role));
  const parts = [await metrics.registry.metrics()];
  if (isManager) parts.push(await metrics.applications.registry.metrics());
  return { status: 200, raw: parts.join(''), contentType: metrics.registry.contentType };
};

/** Returns the language runtimes of the host; Go and binary apps need none. */
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
