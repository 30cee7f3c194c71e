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

/**
 * Questions as readers type them: the examples of defects B3 and B21, then one for each thing that readers do with the product,
 * in their words. They were written before the keywords and synonyms that answer them; 42 of 60 found their page then. Each
 * must find its page, or one below it, in the first three hits.
 */
export const TASK_QUESTIONS: readonly SearchQuestion[] = [
  { query: 'GitOps', page: `${using}/deploy/release-from-git` },
  { query: 'infrastructure as code', page: `${using}/deploy/release-from-git` },
  { query: 'terraform', page: `${using}/deploy/release-from-git` },
  { query: 'declarative configuration', page: `${using}/deploy/release-from-git` },
  { query: 'continuous deployment', page: `${using}/deploy/release-from-git` },
  { query: 'GitHub Actions', page: `${using}/deploy/release-from-git` },
  { query: 'CI', page: `${using}/deploy/release-from-git` },
  { query: 'rollback', page: `${using}/deploy/release-from-git` },
  { query: 'switchyard.yaml', page: `${using}/deploy/release-from-git` },
  { query: 'gurobi', page: '/docs/integrations/solvers/commercial' },
  { query: 'or-tools', page: '/docs/integrations/solvers/or-tools' },
  { query: 'cp-sat', page: '/docs/integrations/solvers/or-tools' },
  { query: 'multi-file', page: `${using}/run/non-json` },
  { query: 'upload csv files', page: '/docs/integrations/data/csv-archive' },
  { query: 'install the command line tool', page: `${using}/reference/cli` },
  { query: 'log in from the terminal', page: `${using}/reference/cli` },
  { query: 'how do I deploy a new version', page: `${using}/deploy/app` },
  { query: 'roll back to the previous version', page: `${using}/deploy/app` },
  { query: 'pip requirements', page: `${using}/reference/cli` },
  { query: 'ModuleNotFoundError', page: '/docs/integrations/modeling/python-packages' },
  { query: 'run my script from python', page: '/docs/python-sdks' },
  { query: 'pyomo', page: '/docs/integrations/modeling' },
  { query: 'why did my run fail', page: `${using}/run/console` },
  { query: 'stderr', page: `${using}/run/logging` },
  { query: 'follow the output while it is running', page: `${using}/run/logging` },
  { query: 'stop a running job', page: `${using}/run/methodology` },
  { query: 'out of memory', page: `${using}/run/execution-classes` },
  { query: 'list failed runs', page: `${using}/run/find-runs` },
  { query: 'run the same input again', page: `${using}/run/replay` },
  { query: 'random seed', page: '/docs/use-cases/vehicle-routing/repeatable-runs' },
  { query: 'A/B test', page: `${using}/experiments` },
  { query: 'is the difference significant', page: `${using}/experiments/statistics` },
  { query: 'how many inputs do I need', page: `${using}/experiments/planning` },
  { query: 'peeking at results early', page: `${using}/experiments/statistics` },
  { query: 'which commit made it slower', page: `${using}/experiments/bisect` },
  { query: 'canary release', page: `${using}/experiments/shadow` },
  { query: 'regression test in CI', page: `${using}/experiments/acceptance` },
  { query: 'callback url', page: `${using}/setup/webhooks` },
  { query: 'backup the database', page: `${using}/setup/backup` },
  { query: 'postgres', page: `${using}/setup/install` },
  { query: 'slurm cluster', page: `${using}/setup/slurm` },
  { query: 'k8s', page: `${using}/setup/kubernetes` },
  { query: 'prometheus metrics', page: `${using}/setup/monitoring` },
  { query: 'ssl certificate', page: `${using}/setup/tls` },
  { query: 'okta', page: `${using}/accounts/sso` },
  { query: 'create an api token', page: `${using}/accounts/api-keys` },
  { query: 'add a user', page: `${using}/accounts/teams` },
  { query: 'objective value', page: `${using}/reference/statistics` },
  { query: 'optimality gap', page: `${using}/run/logging` },
  { query: 'kpi', page: `${using}/reference/statistics` },
  { query: 'show routes on a map', page: `${using}/run/visualization` },
  { query: 'gantt chart', page: `${using}/run/solution-views` },
  { query: 'sandbox', page: `${using}/setup/security` },
  { query: 'license server token limit', page: '/docs/integrations/solvers/commercial' },
  { query: 'parallel runs', page: `${using}/run/execution-classes` },
  { query: 'my run is stuck in the queue', page: `${using}/run/queuing-prioritization` },
  { query: 'excel file as input', page: '/docs/integrations/data' },
  { query: 'read from a database', page: '/docs/integrations/data/fetching' },
  { query: 'delete old runs automatically', page: `${using}/reference/api/retention` },
  { query: 'who changed the instance?', page: `${using}/reference/api/audit` },
  { query: 'environment variables of the server', page: `${using}/setup/install` },
  { query: 'pickup and delivery', page: '/docs/use-cases/vehicle-routing/shipments' },
  { query: 'driver breaks and working hours', page: '/docs/use-cases/vehicle-routing/shifts' },
  { query: 'app.yaml', page: `${start}/concepts/apps` },
  { query: 'exit codes of switchyard', page: `${using}/reference/cli` },
  { query: 'idempotency', page: `${using}/reference/rate-limits` },
  { query: 'multi start', page: `${using}/run/runs-ensembling` },
  { query: 'staging environment', page: `${using}/deploy/app` },
  { query: 'upgrade to a new release', page: `${using}/setup/install` },
];

/**
 * Questions from the tasks of four readers: a planner, an engineer who knows the commercial service, somebody who writes only
 * Python, and an operator. Before the keywords that answer these, 44 of 60 such questions found their page.
 */
export const REVIEW_QUESTIONS: readonly SearchQuestion[] = [
  { query: 'compare two plans side by side', page: `${start}/concepts/console` },
  { query: 'why was my customer not served', page: '/docs/use-cases/vehicle-routing/reasons' },
  { query: 'send a colleague a link to a result', page: `${using}/reference/api/share-links` },
  { query: 'lock stops that are already loaded', page: '/docs/use-cases/vehicle-routing/fixed-stops' },
  { query: 'export results to excel', page: '/docs/integrations/data/results' },
  { query: 'how long until my run starts', page: `${using}/run/queuing-prioritization` },
  { query: 'NEXTMV_API_KEY', page: `${using}/reference/python-sdk` },
  { query: 'carry-over effect', page: `${using}/experiments` },
  { query: 'performance profile dolan moré', page: `${using}/experiments/profiles` },
  { query: 'wait for completion of a run', page: `${using}/run/methodology` },
  { query: 'local debugging without the server', page: `${start}/quickstarts/custom-app` },
  { query: 'claude agent mcp server', page: `${using}/reference/cli` },
  { query: 'pandas dataframe', page: '/docs/python-sdks' },
  { query: 'async python client', page: `${using}/reference/python-sdk` },
  { query: 'import error module not found in run', page: '/docs/integrations/modeling/python-packages' },
  { query: 'logging module', page: `${using}/run/logging` },
  { query: 'MinIO bucket', page: `${using}/setup/install` },
  { query: 'SBOM checksum', page: '/docs/releases/methodology' },
  { query: 'firewall outbound network access of apps', page: `${using}/setup/security` },
  { query: 'limit number of runs per user', page: `${using}/reference/api/usage` },
  { query: 'zero downtime upgrade', page: `${using}/setup` },
  { query: 'drain a worker for maintenance', page: `${using}/setup/workers` },
];
