/**
 * Questions of readers, and the page for each. They were written from the list of pages alone, before any search existed, so
 * they measure its quality. The pages below a right page are right too.
 */
export interface SearchQuestion {
  query: string;
  /** The page to find, or one below it. */
  page: string;
  /** The page has not been written yet, so nothing can find it. */
  isPending?: true;
}

const start = '/docs/get-started';
const using = '/docs/using-switchyard';

export const SEARCH_QUESTIONS: readonly SearchQuestion[] = [
  { query: 'start the platform and make a first run', page: `${start}/quickstarts/overview` },
  { query: 'how do I push my own program', page: `${start}/quickstarts/custom-app` },
  { query: 'subscribe to a marketplace app', page: `${start}/quickstarts/subscription-app` },
  { query: 'install on my machine', page: `${using}/setup/install` },
  {
    query: 'test the newest executable before making a version',
    page: `${using}/setup/latest-instance`,
  },
  { query: 'notify my service when a run finishes', page: `${using}/setup/webhooks` },
  { query: 'upload an input larger than 5 MB', page: `${using}/run/large-payloads` },
  { query: 'csv archive input', page: `${using}/run/non-json` },
  { query: 'print to the log while solving', page: `${using}/run/logging` },
  { query: 'run with higher priority', page: `${using}/run/queuing-prioritization` },
  { query: 'how much memory does a run get', page: `${using}/run/execution-classes` },
  { query: 'which option wins, instance or run', page: `${using}/run/options-hierarchy` },
  { query: 'best of several runs', page: `${using}/run/runs-ensembling` },
  { query: 'register a run that happened on my own machine', page: `${using}/run/track-runs` },
  { query: 'draw my own chart of a result', page: `${using}/run/custom-visualization` },
  { query: 'attach files to a run', page: `${using}/run/custom-assets` },
  { query: 'try different option values', page: `${using}/experiments/scenario` },
  { query: 'compare two versions on the same inputs', page: `${using}/experiments/batch` },
  { query: 'pass or fail test before a release', page: `${using}/experiments/acceptance` },
  { query: 'copy production traffic to a candidate', page: `${using}/experiments/shadow` },
  {
    query: 'alternate between two instances over time',
    page: `${using}/experiments/switchback`,
  },
  { query: 'save inputs of past runs for tests', page: `${using}/experiments/input-sets` },
  { query: 'store a password for my app', page: `${using}/reference/secret-collections` },
  { query: 'next_page_token', page: `${using}/reference/pagination` },
  { query: '429 too many requests', page: `${using}/reference/rate-limits` },
  { query: 'statistics block in the output', page: `${using}/reference/statistics` },
  { query: 'invite a colleague', page: `${using}/accounts/teams` },
  { query: 'revoke a token', page: `${using}/accounts/api-keys` },
  { query: 'time windows of stops', page: '/docs/use-cases/vehicle-routing' },
  { query: 'what changed in the latest release?', page: '/docs/releases/latest' },
];

/** Questions written before the ranking was tuned on those above. Their score was visible during the tuning. */
export const HELD_OUT_QUESTIONS: readonly SearchQuestion[] = [
  { query: 'cancel a run', page: `${using}/run/methodology` },
  { query: 'what is an execution class?', page: `${using}/run/execution-classes` },
  { query: 'roles and permissions', page: `${using}/accounts/teams` },
  { query: 'single sign on', page: `${using}/accounts/sso` },
  { query: 'go through all pages of a list', page: `${using}/reference/pagination` },
  { query: 'command line', page: `${using}/reference/cli` },
  { query: 'multi-file output', page: `${using}/run/non-json` },
  { query: 'live logs', page: `${using}/run/logging` },
  { query: 'switch production to a new version', page: `${using}/deploy/app` },
  { query: 'chain several apps', page: `${using}/workflows/decision-workflows` },
  { query: 'default instance', page: `${using}/setup/latest-instance` },
  { query: 'plotly chart', page: `${using}/run/custom-visualization` },
  { query: 'environment variable from a secret', page: `${using}/reference/secret-collections` },
  { query: 'repeat each combination several times', page: `${using}/experiments/scenario` },
  { query: 'random plan', page: `${using}/experiments/switchback` },
  { query: 'tolerance of a metric', page: `${using}/experiments/acceptance` },
];

/** Questions that readers asked without success, and words with several spellings or names. Each must find its page. */
export const REPORTED_QUESTIONS: readonly SearchQuestion[] = [
  { query: 'docker', page: `${using}/setup/install` },
  { query: 'container', page: `${using}/setup/install` },
  { query: 'how to set a time limit', page: `${using}/run/execution-classes` },
  { query: 'GPU', page: `${using}/run/execution-classes` },
  { query: 'schedule runs every night', page: `${using}/workflows/decision-workflows` },
  { query: 'cron', page: `${using}/workflows/decision-workflows` },
  { query: 'benchmark', page: '/docs/use-cases/vehicle-routing/how-it-works' },
  { query: 'benchmark instances', page: '/docs/use-cases/vehicle-routing/how-it-works' },
  { query: 'share a run', page: `${using}/accounts/teams` },
  { query: 'notify', page: `${using}/setup/webhooks` },
  { query: 'alert on failure', page: `${using}/setup/webhooks` },
  { query: 'license', page: '/docs/integrations/solvers/commercial' },
  { query: 'makespan', page: '/docs/integrations/solvers/or-tools' },
];
