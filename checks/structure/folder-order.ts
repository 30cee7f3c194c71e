/** The law of sub-folders: each imports only from itself and from those before it. */
import { type Packages, resolveImport } from '../packages.ts';
import { isTesting, type Source } from '../source-files.ts';
import { listImports } from '../syntax.ts';

/** The sub-folders of a folder in reading order; files directly in the folder are exempt. */
const FOLDER_ORDERS: Readonly<Record<string, readonly string[]>> = {
  cli: [
    'terminal',
    'errors',
    'profiles',
    'transfer',
    'packing',
    'session',
    'development',
    'experiments',
    'applying',
    'commands',
    'program',
    'build',
    'first-run',
    'testing',
  ],
  contract: [
    'experiment-types',
    'schemas',
    'presentation',
    'applications',
    'runs',
    'account',
    'marketplace',
    'experiments',
    'workers',
    'views',
    'site',
    'transfer',
    'openapi',
  ],
  'explorer/model': ['document', 'schema', 'values', 'operation'],
  runner: ['process', 'filesystem', 'archive', 'sandbox', 'host', 'launcher', 'testing'],
  'sample-apps/vehicle-routing/src': ['input', 'search', 'output'],
  'server/platform/database': ['sqlite', 'postgres', 'maintenance'],
  'server/accounts': [
    'audit',
    'account',
    'organizations',
    'sso',
    'sessions',
    'device-authorizations',
    'usage',
  ],
  'server/apps': ['uploads', 'applications', 'versions', 'marketplace', 'instances', 'secrets'],
  'server/experiments': [
    'ensembles',
    'statistics',
    'store',
    'input-properties',
    'results',
    'questions',
    'operations',
    'racing',
    'batch',
    'acceptance',
    'online',
    'bisect',
    'planning',
    'summaries',
  ],
  'server/platform/http': ['errors', 'requests', 'handlers', 'limits', 'transport', 'lists', 'streams'],
  'server/ops': [
    'retention',
    'webhooks',
    'inventory',
    'account-streams',
    'search',
    'site',
    'community',
    'health',
    'clean-up',
    'installation',
    'backup',
  ],
  'server/platform': ['settings', 'tracing', 'database', 'blobs', 'jobs', 'http', 'tls'],
  'server/runs': [
    'workers',
    'values',
    'store',
    'tracing',
    'workflows',
    'queue',
    'series',
    'logs',
    'results',
    'submit',
    'access',
    'execute',
    'remote',
    'replay',
    'streams',
    'listing',
    'api',
    'log-search',
    'tags',
    'views',
    'provisioner',
    'shares',
    'inputs',
    'input-sets',
  ],
  'site/components': ['markup', 'layout'],
  'site/generator': ['inputs', 'markup', 'pages', 'output'],
};

function subfolder(parent: string, path: string): string | undefined {
  if (!path.startsWith(`${parent}/`)) return undefined;
  const [first, ...below] = path.slice(parent.length + 1).split('/');
  return below.length > 0 ? first : undefined;
}

/**
 * Returns imports against the order, and sub-folders without a place in it. Tests are exempt: they stand beside the
 * code under test and import its start.
 */
export function checkFolderOrder(
  sources: readonly Source[],
  packages: Packages,
  orders: Readonly<Record<string, readonly string[]>> = FOLDER_ORDERS,
): string[] {
  return Object.entries(orders).flatMap(([parent, order]) =>
    sources.flatMap((source) => {
      const from = subfolder(parent, source.path);
      if (from === undefined || isTesting(source.path)) return [];
      const place = order.indexOf(from);
      if (place < 0)
        return [
          `${parent}/${from} has no place in the import order: add it in checks/structure/folder-order.ts, or move ${source.path}.`,
        ];
      return listImports(source).flatMap(({ specifier, line }) => {
        const target = resolveImport(source.path, specifier, packages);
        const to = target.kind === 'own' && target.path ? subfolder(parent, target.path) : undefined;
        if (to === undefined || order.indexOf(to) <= place) return [];
        return [
          `${source.path}:${line} imports ${parent}/${to}, which stands after ${parent}/${from}: move what both need to an earlier folder.`,
        ];
      });
    }),
  );
}

/** Returns folders of the list without any source. */
export function findUnusedOrders(
  sources: readonly Source[],
  orders: Readonly<Record<string, readonly string[]>> = FOLDER_ORDERS,
): string[] {
  return Object.entries(orders).flatMap(([parent, order]) =>
    order
      .map((folder) => `${parent}/${folder}`)
      .filter((folder) => !sources.some(({ path }) => path.startsWith(`${folder}/`)))
      .map((folder) => `${folder} contains no source: remove it from checks/structure/folder-order.ts.`),
  );
}
