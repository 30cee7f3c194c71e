/** The lists that things of an application are below, by the part of the address after its id. */
export const LISTS = new Map([
  ['runs', { label: 'Runs', noun: 'run', to: '/apps/$application/runs' as const }],
  [
    'experiments',
    { label: 'Experiments', noun: 'experiment', to: '/apps/$application/experiments' as const },
  ],
  ['ensembles', { label: 'Ensembles', noun: 'ensemble', to: '/apps/$application/ensembles' as const }],
  ['inputs', { label: 'Inputs', noun: 'input', to: '/apps/$application/inputs' as const }],
  ['input-sets', { label: 'Input sets', noun: 'input set', to: '/apps/$application/input-sets' as const }],
  ['instances', { label: 'Instances', noun: 'instance', to: '/apps/$application' as const }],
]);

/** A list of the account, by the first part of an address. */
export const OTHERS = new Map([
  ['webhooks', { label: 'Webhooks', noun: 'webhook', to: '/webhooks' as const }],
  ['marketplace', { label: 'Marketplace', noun: 'app', to: '/marketplace' as const }],
]);
const APPLICATIONS = { label: 'Applications', noun: 'application', to: '/' as const };

/** Returns the list to which a thing at the address belongs, and its application if it has one. */
export function findPlace(path: string) {
  const [, first = '', application = '', section = '', id = ''] = path.split('/');
  const list = LISTS.get(section);
  if (first === 'apps' && list && id !== '') return { ...list, application };
  return { ...(OTHERS.get(first) ?? APPLICATIONS), application: '' };
}
