/** The pages that the command palette finds, and the page of the documentation that explains each route. */
import type { RegisteredRouter } from '@tanstack/react-router';
import type { applicationPrefixRoutes, prefixRoutes } from './prefix-routes.ts';

/** The pages of one application. A new one belongs here too. One with an icon is a stop of the navigation. A page that creates something needs its right. */
export const APPLICATION_PAGES = [
  { label: 'Overview', icon: 'overview', to: '/apps/$application' },
  { label: 'Runs', icon: 'run', to: '/apps/$application/runs' },
  { label: 'New run', to: '/apps/$application/new-run', right: 'run' },
  { label: 'Log search', to: '/apps/$application/logs' },
  { label: 'Experiments', icon: 'experiment', to: '/apps/$application/experiments' },
  { label: 'New experiment', to: '/apps/$application/new-experiment', right: 'experiment' },
  { label: 'Ensembles', icon: 'ensemble', to: '/apps/$application/ensembles' },
  { label: 'New ensemble', to: '/apps/$application/new-ensemble', right: 'experiment' },
  { label: 'Inputs', icon: 'input', to: '/apps/$application/inputs' },
  { label: 'Input sets', icon: 'list', to: '/apps/$application/input-sets' },
  { label: 'Secrets', icon: 'key', to: '/apps/$application/secrets' },
  { label: 'Compare versions', to: '/apps/$application/compare-versions' },
  { label: 'New instance', to: '/apps/$application/new-instance', right: 'write' },
] as const;

export const PLATFORM_PAGES = [
  { label: 'Applications', icon: 'applications', to: '/' },
  { label: 'Marketplace', icon: 'marketplace', to: '/marketplace' },
  { label: 'Queue', icon: 'queue', to: '/queue' },
  { label: 'Workers', icon: 'worker', to: '/workers' },
  { label: 'Webhooks', icon: 'webhook', to: '/webhooks' },
] as const;

export const ACCOUNT_PAGES = [
  { label: 'Members', icon: 'people', to: '/account/members' },
  { label: 'Keys', icon: 'key', to: '/account/keys' },
  { label: 'Sessions', icon: 'session', to: '/account/sessions' },
  { label: 'Sign in a program', to: '/device' },
] as const;

/** The pages that only administrators of the account may read. */
export const ADMINISTRATOR_PAGES = [
  { label: 'Usage', icon: 'usage', to: '/account/usage' },
  { label: 'Quotas', icon: 'quota', to: '/account/quotas' },
  { label: 'Retention', icon: 'retention', to: '/account/retention' },
  { label: 'Share links', icon: 'link', to: '/account/shares' },
  { label: 'Backups', icon: 'backup', to: '/account/backups' },
  { label: 'Audit log', icon: 'audit', to: '/account/audit' },
] as const;

/** Routes that only lead to another page. */
type PrefixRoute = FullPath<(typeof prefixRoutes)[number] | (typeof applicationPrefixRoutes)[number]>;
type FullPath<Route> = Route extends { types: { fullPath: infer Path } } ? Path : never;

type ConsoleRoute = Exclude<
  keyof RegisteredRouter['routesByPath'],
  '' | '/$' | '/apps/$application' | PrefixRoute | `/sign-in${string}` | `/shared/${string}`
>;

/** The addresses of the documentation below `/docs/using-switchyard/`, by route. `$type` stands for that of the route. */
export const DOCUMENTATION: Readonly<Record<ConsoleRoute, string>> = {
  '/': 'deploy/app',
  '/marketplace': 'deploy/subscription-apps',
  '/marketplace/$partner/$app': 'deploy/subscription-apps',
  '/queue': 'run/queuing-prioritization',
  '/workers': 'setup/workers',
  '/webhooks': 'setup/webhooks',
  '/webhooks/$webhook': 'setup/webhooks',
  '/device': 'reference/api/device-authorizations',
  '/account/members': 'accounts/teams',
  '/account/keys': 'accounts/api-keys',
  '/account/sessions': 'reference/api/sessions',
  '/account/usage': 'reference/api/usage',
  '/account/quotas': 'run/execution-classes',
  '/account/retention': 'reference/api/retention',
  '/account/shares': 'reference/api/share-links',
  '/account/backups': 'setup/backup',
  '/account/audit': 'reference/api/audit',
  '/apps/$application/': 'deploy/app',
  '/apps/$application/runs': 'run/find-runs',
  '/apps/$application/runs/$run': 'run/console',
  '/apps/$application/runs/$run/content': 'run/large-payloads',
  '/apps/$application/compare': 'run/console',
  '/apps/$application/new-run': 'run/options-hierarchy',
  '/apps/$application/logs': 'run/logging',
  '/apps/$application/experiments': 'experiments/statistics',
  '/apps/$application/experiments/$type/$id': 'experiments/$type',
  '/apps/$application/new-experiment': 'experiments/planning',
  '/apps/$application/ensembles': 'run/runs-ensembling',
  '/apps/$application/ensembles/$ensemble': 'run/runs-ensembling',
  '/apps/$application/ensembles/$ensemble/runs/$run': 'run/runs-ensembling',
  '/apps/$application/new-ensemble': 'run/runs-ensembling',
  '/apps/$application/inputs': 'experiments/inputs',
  '/apps/$application/inputs/$input': 'experiments/inputs',
  '/apps/$application/input-sets': 'experiments/input-sets',
  '/apps/$application/input-sets/$inputSet': 'experiments/input-sets',
  '/apps/$application/secrets': 'reference/secret-collections',
  '/apps/$application/compare-versions': 'deploy/app',
  '/apps/$application/new-instance': 'deploy/app',
  '/apps/$application/instances/$instance': 'deploy/app',
};
