import { defineConfig } from 'vitest/config';
import { LongestFirst } from './vitest.sequence.ts';

/**
 * Tested on SQLite alone, because the database makes no difference: these tests end before a statement, or concern the
 * app or a rule of HTTP. PostgreSQL runs the tests that depend on its statements: locks, claims, conflicts,
 * transactions, lists, migrations and JSON. It also runs every operation with every declared response
 * (server/http/declared-responses.test.ts).
 */
const SAME_ON_BOTH = [
  'server/{config,random}.test.ts',
  'server/account/{invites,own-account,secrets-not-logged,tokens}.test.ts',
  'server/applications/{account-semaphore,archives}.test.ts',
  'server/backup/refused-backups.test.ts',
  'server/blobs/{blob-store,s3,verified-blobs}.test.ts',
  'server/database/sqlite/**',
  'server/ensembles/{ensembles,logs,select-best-run,visibility}.test.ts',
  'server/experiments/acceptance/{acceptance-metrics,acceptance-validation}.test.ts',
  'server/experiments/online/{candidate-failures,refused-drafts,switchback-plan,unrouted-runs}.test.ts',
  'server/experiments/results/*',
  'server/experiments/simulation/*',
  'server/experiments/statistics/*',
  'server/health/{readiness,shutdown}.test.ts',
  'server/http/{openapi-agreement,error-responses,hostile-bodies,hostile-bytes,metrics,newline,parsing-and-signing,malformed-requests}.test.ts',
  'server/http/errors/*',
  'server/http/handlers/permissions.test.ts',
  'server/http/limits/*',
  'server/http/requests/*',
  'server/inputs/inputs.test.ts',
  'server/installation/start-refusal.test.ts',
  'server/jobs/*',
  'server/runs/execute/{contained-apps,cancel-and-delete,host-faults}.test.ts',
  'server/runs/logs/log-poll-limiter.test.ts',
  'server/runs/queue/waiting-reason.test.ts',
  'server/runs/results/{assets,hostile-apps,json-field-extractor,metrics,network-hint,read-results,results,statistics}.test.ts',
  'server/runs/submit/{formats,option-names,options}.test.ts',
  'server/search/search.test.ts',
  'server/secrets/{delivery,mask,masking,patch,rules}.test.ts',
  'server/site/site.test.ts',
  'server/uploads/downloads.test.ts',
  'server/webhooks/{addresses,networks}.test.ts',
];

/**
 * One more than the cores of the smallest machine for tests: tests with real servers, apps and browsers wait for a
 * third of their time. Two workers kept two cores busy for 60 % of it. The tests on PostgreSQL run beside those on
 * SQLite and wait less.
 */
const WORKERS = process.env.DATABASE === 'postgres' ? 2 : 3;

export default defineConfig({
  test: {
    exclude: ['**/node_modules/**', '**/dist/**', 'data/**'],
    pool: 'forks',
    // Loading the server takes a second, and there are two hundred files, so a worker keeps its modules. No file may
    // therefore leave state in a module or the environment.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    maxWorkers: WORKERS,
    // Deadline on a busy machine. Tests wait for a signal, or poll.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'product',
          include: ['**/*.test.ts', '**/*.test.tsx'],
          exclude: ['site/**', 'bench/site/**', ...(process.env.DATABASE === 'postgres' ? SAME_ON_BOTH : [])],
          globalSetup: ['server/testing/database/global-setup.ts'],
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
    ],
  },
});
