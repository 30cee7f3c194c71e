/** Pages that the command palette finds. Those of one application open for the application of the current page. */

/** A new page of an application belongs here too. A page that creates something needs its right. */
export const APPLICATION_PAGES = [
  { label: 'Overview', to: '/apps/$application' },
  { label: 'Runs', to: '/apps/$application/runs' },
  { label: 'New run', to: '/apps/$application/new-run', right: 'run' },
  { label: 'Log search', to: '/apps/$application/logs' },
  { label: 'Experiments', to: '/apps/$application/experiments' },
  { label: 'New experiment', to: '/apps/$application/new-experiment', right: 'experiment' },
  { label: 'Ensembles', to: '/apps/$application/ensembles' },
  { label: 'New ensemble', to: '/apps/$application/new-ensemble', right: 'experiment' },
  { label: 'Inputs', to: '/apps/$application/inputs' },
  { label: 'Input sets', to: '/apps/$application/input-sets' },
  { label: 'Secrets', to: '/apps/$application/secrets' },
  { label: 'Compare versions', to: '/apps/$application/compare-versions' },
  { label: 'New instance', to: '/apps/$application/new-instance', right: 'write' },
] as const;

export const PAGES = [
  { label: 'Applications', to: '/' },
  { label: 'Marketplace', to: '/marketplace' },
  { label: 'Queue', to: '/queue' },
  { label: 'Workers', to: '/workers' },
  { label: 'Webhooks', to: '/webhooks' },
  { label: 'Members', to: '/account/members' },
  { label: 'Keys', to: '/account/keys' },
  { label: 'Sessions', to: '/account/sessions' },
  { label: 'Sign in a program', to: '/device' },
] as const;

/** The pages that only administrators of the account may read. */
export const ADMINISTRATOR_PAGES = [
  { label: 'Usage', to: '/account/usage' },
  { label: 'Quotas', to: '/account/quotas' },
  { label: 'Retention', to: '/account/retention' },
  { label: 'Share links', to: '/account/shares' },
  { label: 'Audit log', to: '/account/audit' },
  { label: 'Backups', to: '/account/backups' },
] as const;
