/** The pages that the command palette finds. Those with an icon are stops of the navigation. */

/** The pages of one application. A new one belongs here too. A page that creates something needs its right. */
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
