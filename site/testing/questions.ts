/**
 * What readers ask, and the page that answers it. The list was written from the list of pages alone, before any search
 * had been tried on it, so that it can say how good the search is. A right page may have pages below it: those answer too.
 */
export interface Question {
  ask: string;
  /** The page that answers; one of its pages below is as good. */
  page: string;
  /** The page has not been written yet, so nothing can find it. */
  pending?: true;
}

const start = '/docs/get-started';
const using = '/docs/using-switchyard';

export const questions: readonly Question[] = [
  { ask: 'start the platform and make a first run', page: `${start}/quickstarts/overview` },
  { ask: 'how do I push my own program', page: `${start}/quickstarts/custom-app` },
  { ask: 'subscribe to a marketplace app', page: `${start}/quickstarts/subscription-app` },
  { ask: 'install on my machine', page: `${using}/setup/install` },
  {
    ask: 'test the newest executable before making a version',
    page: `${using}/setup/latest-instance`,
  },
  { ask: 'notify my service when a run finishes', page: `${using}/setup/webhooks` },
  { ask: 'upload an input larger than 5 MB', page: `${using}/run/large-payloads` },
  { ask: 'csv archive input', page: `${using}/run/non-json` },
  { ask: 'print to the log while solving', page: `${using}/run/logging` },
  { ask: 'run with higher priority', page: `${using}/run/queuing-prioritization` },
  { ask: 'how much memory does a run get', page: `${using}/run/execution-classes` },
  { ask: 'which option wins, instance or run', page: `${using}/run/options-hierarchy` },
  { ask: 'best of several runs', page: `${using}/run/runs-ensembling` },
  { ask: 'register a run that happened on my own machine', page: `${using}/run/track-runs` },
  { ask: 'draw my own chart of a result', page: `${using}/run/custom-visualization` },
  { ask: 'attach files to a run', page: `${using}/run/custom-assets` },
  { ask: 'try different option values', page: `${using}/experiments/scenario` },
  { ask: 'compare two versions on the same inputs', page: `${using}/experiments/batch` },
  { ask: 'pass or fail test before a release', page: `${using}/experiments/acceptance` },
  { ask: 'copy production traffic to a candidate', page: `${using}/experiments/shadow` },
  {
    ask: 'alternate between two instances over time',
    page: `${using}/experiments/switchback`,
  },
  { ask: 'save inputs of past runs for tests', page: `${using}/experiments/input-sets` },
  { ask: 'store a password for my app', page: `${using}/reference/secret-collections` },
  { ask: 'next_page_token', page: `${using}/reference/pagination` },
  { ask: '429 too many requests', page: `${using}/reference/rate-limits` },
  { ask: 'statistics block in the output', page: `${using}/reference/statistics` },
  { ask: 'invite a colleague', page: `${using}/accounts/teams` },
  { ask: 'revoke a token', page: `${using}/accounts/api-keys` },
  { ask: 'time windows of stops', page: '/docs/use-cases/vehicle-routing' },
  { ask: 'what changed in the latest release', page: '/docs/releases/latest' },
];

/** The same, written before the ranking was tuned on those above; their score was seen while it was. */
export const heldOut: readonly Question[] = [
  { ask: 'cancel a run', page: `${using}/run/methodology` },
  { ask: 'what is an execution class', page: `${using}/run/execution-classes` },
  { ask: 'roles and permissions', page: `${using}/accounts/teams` },
  { ask: 'single sign on', page: `${using}/accounts/sso` },
  { ask: 'go through all pages of a list', page: `${using}/reference/pagination` },
  { ask: 'command line', page: `${using}/reference/cli` },
  { ask: 'multi-file output', page: `${using}/run/non-json` },
  { ask: 'live logs', page: `${using}/run/logging` },
  { ask: 'switch production to a new version', page: `${using}/deploy/app` },
  { ask: 'chain several apps', page: `${using}/workflows/decision-workflows` },
  { ask: 'default instance', page: `${using}/setup/latest-instance` },
  { ask: 'plotly chart', page: `${using}/run/custom-visualization` },
  { ask: 'environment variable from a secret', page: `${using}/reference/secret-collections` },
  { ask: 'repeat each combination several times', page: `${using}/experiments/scenario` },
  { ask: 'random plan', page: `${using}/experiments/switchback` },
  { ask: 'tolerance of a metric', page: `${using}/experiments/acceptance` },
];

/** What readers asked without an answer, and words that the field and the pages spell or name differently: each must be answered. */
export const reported: readonly Question[] = [
  { ask: 'docker', page: `${using}/setup/install` },
  { ask: 'container', page: `${using}/setup/install` },
  { ask: 'how to set a time limit', page: `${using}/run/execution-classes` },
  { ask: 'GPU', page: `${using}/run/execution-classes` },
  { ask: 'schedule runs every night', page: `${using}/workflows/decision-workflows` },
  { ask: 'cron', page: `${using}/workflows/decision-workflows` },
  { ask: 'benchmark', page: '/docs/use-cases/vehicle-routing/how-it-works' },
  { ask: 'benchmark instances', page: '/docs/use-cases/vehicle-routing/how-it-works' },
  { ask: 'share a run', page: `${using}/accounts/teams` },
  { ask: 'notify', page: `${using}/setup/webhooks` },
  { ask: 'alert on failure', page: `${using}/setup/webhooks` },
  { ask: 'license', page: '/docs/integrations/solvers/commercial' },
  { ask: 'makespan', page: '/docs/integrations/solvers/or-tools' },
];
