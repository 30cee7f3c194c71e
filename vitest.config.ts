import { defineConfig } from 'vitest/config';
import { LongestFirst } from './vitest.sequence.ts';

/**
 * Tested on SQLite alone. The database makes a difference where a statement runs on it. PostgreSQL therefore runs a set of
 * files that executes every statement of the server, whatever its values and the columns it changes. A file is here if
 * other files execute all its statements on PostgreSQL, or if it executes none; `npm test` compares them
 * (server/testing/database/compare-statements.ts).
 *
 * Some promises hold for several statements together, so PostgreSQL also runs every test of locks, claims, conflicts and
 * concurrent requests. The same is true of transactions, several processes, recovery, the order of lists, migrations,
 * backups, JSON and time. Every operation responds there as declared (server/platform/http/declared-responses.test.ts).
 */
const SAME_ON_BOTH = [
  'server/platform/{clock,config,random,random-generator}.test.ts',
  'server/ops/migrations.test.ts',
  'server/platform/settings/*',
  'server/accounts/account/{invites,own-account,secrets-not-logged,sign-up,tokens}.test.ts',
  'server/apps/applications/{account-semaphore,archives,executable-files,push}.test.ts',
  'server/accounts/audit/refusal-limiter.test.ts',
  'server/ops/backup/refused-backups.test.ts',
  'server/platform/blobs/{blob-store,s3,verified-blobs}.test.ts',
  'server/ops/clean-up/{deletion-during-use,killed-retention}.test.ts',
  'server/ops/community/community.test.ts',
  'server/platform/database/{sqlite/**,postgres/merged-statements.test.ts}',
  'server/experiments/ensembles/{ensemble-runs,ensembles,logs,select-best-run,visibility}.test.ts',
  'server/experiments/acceptance/{acceptance-metrics,acceptance-validation,acceptance-verdicts,failed-runs}.test.ts',
  'server/experiments/batch/{batch-lifecycle,batch-plan,batch-profiles,batch-runs,check-plan,interim-verdicts,related-inputs,run-order,verdicts}.test.ts',
  'server/experiments/online/{candidate-failures,refused-drafts,shadow,shadow-dependence,switchback,switchback-plan,switchback-verdicts,unrouted-runs}.test.ts',
  'server/experiments/input-properties/{extract-properties,features}.test.ts',
  'server/experiments/results/*',
  'server/experiments/statistics/**',
  'server/ops/health/{monitoring,readiness,shutdown}.test.ts',
  'server/platform/http/{openapi-agreement,error-responses,hostile-bodies,hostile-bytes,metrics,newline,parsing-and-signing,malformed-requests}.test.ts',
  'server/platform/http/errors/*',
  'server/platform/http/handlers/{commit,permissions}.test.ts',
  'server/platform/http/limits/*',
  'server/platform/http/requests/*',
  'server/platform/http/transport/*',
  'server/runs/input-sets/{update,window}.test.ts',
  'server/runs/inputs/{inputs,runs-on-inputs}.test.ts',
  'server/ops/installation/start-refusal.test.ts',
  'server/apps/instances/instances.test.ts',
  'server/platform/jobs/define-job.test.ts',
  'server/apps/marketplace/isolation.test.ts',
  'server/runs/provisioner/{expected-offer,observe-jobs,plan-workers,slurm-workers}.test.ts',
  'server/runs/provisioner/adapters/*',
  'server/runs/runs.test.ts',
  'server/runs/api/queue-reasons.test.ts',
  'server/runs/execute/{contained-apps,cancel-and-delete,host-faults,killed-processes}.test.ts',
  'server/runs/log-search/{line-matcher,read-lines}.test.ts',
  'server/runs/logs/{line-times,log-poll-limiter}.test.ts',
  'server/runs/queue/{waiting-reason,placement/plan-claims,placement/simulated-cluster}.test.ts',
  'server/runs/queue/prediction/{past-durations,predict-starts}.test.ts',
  'server/runs/remote/{hostile-server,interrupted-workers,remote-workers}.test.ts',
  'server/runs/replay/replayed-runs.test.ts',
  'server/runs/results/{assets,hostile-apps,metrics,network-hint,results,statistics}.test.ts',
  'server/runs/tracing/run-spans.test.ts',
  'server/runs/submit/{create-run,formats,option-names,options,submit-routed}.test.ts',
  'server/ops/search/search.test.ts',
  'server/apps/secrets/{delivery,mask,masking,patch,rules}.test.ts',
  'server/ops/site/site.test.ts',
  'server/platform/tls/*',
  'server/platform/tracing/*',
  'server/accounts/sso/id-tokens.test.ts',
  'server/apps/uploads/{downloads,uploads}.test.ts',
  'simulation/**',
  'studies/**',
  'server/ops/webhooks/{addresses,attempts,networks}.test.ts',
  // Pure rules, and values that are checked before a statement.
  'server/{main,testing/**/*}.test.ts',
  'server/accounts/sso/person.test.ts',
  'server/experiments/ensembles/{compute-usage,gain,start}.test.ts',
  'server/experiments/input-properties/{clusters,group-contents,versions-of-inputs}.test.ts',
  'server/experiments/questions/*.test.ts',
  'server/experiments/racing/racing.test.ts',
  'server/ops/installation/{image,packaging,setting-errors}.test.ts',
  'server/platform/{database/parse-column,http/lists/compressed-bodies,http/streams/*}.test.ts',
  'server/runs/{replay/*,store/routes,values/*,workers/class-slots,workers/server-token}.test.ts',
  // Verdicts, refusals and states of experiments, by statements of the other files of experiments.
  'server/experiments/acceptance/{acceptance-lifecycle,ensemble-sides,ties,tied-statistics}.test.ts',
  'server/experiments/batch/{batch-validation,decisions,ensemble-arms,selected-runs}.test.ts',
  'server/experiments/bisect/{bisect,bisect-obstacles}.test.ts',
  'server/experiments/online/{shadow-limit,switchback-design,switchback-refusals}.test.ts',
  'server/experiments/operations/*.test.ts',
  'server/experiments/planning/*.test.ts',
  // Requests of workers, apps and callers, by statements that claims, results and lists execute there.
  'server/accounts/account/members.test.ts',
  'server/apps/uploads/parts.test.ts',
  'server/ops/webhooks/experiment-events.test.ts',
  'server/runs/access/{api-proxy,workflows}.test.ts',
  'server/runs/api/{metadata,placement,replays,series}.test.ts',
  'server/runs/log-search/*.test.ts',
  'server/runs/remote/hostile-values.test.ts',
  'server/runs/tracing/traces.test.ts',
];

/**
 * Tests of servers that are killed. The simulation crashes servers on SQLite between any two events, so these run on
 * PostgreSQL, where several servers and their processes are real.
 */
const KILLED_ON_POSTGRES = [
  'server/experiments/bisect/killed-servers.test.ts',
  'server/experiments/batch/killed-ensembles.test.ts',
  'server/experiments/racing/killed-races.test.ts',
  'server/runs/access/killed-server.test.ts',
];

/** Tests of the whole product, which nearly every change would affect: `npm test -- --affected` leaves them out. */
const WHOLE = [
  'bench/**',
  'chaos/**',
  'cli/documentation/**',
  'cli/first-run/**',
  'conformance/**',
  'simulation/**',
  'site/{accessibility,all-pages}.test.ts',
  'studies/**',
];

/**
 * One more than the cores of the smallest machine for tests: tests with real servers, apps and browsers wait for a
 * third of their time. Two workers kept two cores busy for 60 % of it. The tests on PostgreSQL run beside those on
 * SQLite and wait less.
 */
const WORKERS = process.env.DATABASE === 'postgres' ? 2 : 3;

export default defineConfig({
  test: {
    exclude: ['**/node_modules/**', '**/dist/**', 'data/**', ...(process.env.AFFECTED ? WHOLE : [])],
    pool: 'forks',
    // Loading the server takes a second, and there are two hundred files, so a worker keeps its modules. No file may
    // therefore leave state in a module or the environment.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    maxWorkers: WORKERS,
    // These limits only end what hangs; no test asserts a time with them. With 60 s, tests on PostgreSQL failed on a machine
    // that other tests kept busy, and the first installation of Python packages takes minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'product',
          include: ['**/*.test.ts', '**/*.test.tsx'],
          exclude: [
            'site/**',
            'bench/site/**',
            'console/**',
            ...(process.env.DATABASE === 'postgres' ? SAME_ON_BOTH : []),
            ...(process.env.DATABASE === 'sqlite' && process.env.BOTH_DATABASES ? KILLED_ON_POSTGRES : []),
          ],
          globalSetup: ['cli/testing/global-setup.ts', 'server/testing/database/global-setup.ts'],
          setupFiles: ['server/testing/database/record-statements.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'site',
          include: ['site/**/*.test.ts', 'site/**/*.test.tsx', 'bench/site/**/*.test.ts'],
          globalSetup: ['server/testing/database/global-setup.ts', 'site/testing/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'console',
          include: ['console/**/*.test.ts', 'console/**/*.test.tsx'],
          globalSetup: [
            'cli/testing/global-setup.ts',
            'server/testing/database/global-setup.ts',
            'console/testing/global-setup.ts',
          ],
        },
      },
    ],
  },
});
