import { defineConfig } from 'vitest/config';
import { LongestFirst } from './vitest.sequence.ts';

/**
 * What is the same on either database, because it ends before a statement is made or is about the app: it is tested on
 * SQLite alone, which takes a quarter off the time that the tests take on PostgreSQL.
 */
const SAME_ON_BOTH = [
  'server/{health/readiness,search/search,site/site}.test.ts',
  'server/applications/archives.test.ts',
  'server/backup/refused-backups.test.ts',
  'server/blobs/verified-blobs.test.ts',
  'server/installation/start-refusal.test.ts',
  'server/experiments/acceptance/acceptance-metrics.test.ts',
  'server/experiments/results/{analysis-limits,acceptance-reasons}.test.ts',
  'server/experiments/simulation/*',
  'server/experiments/statistics/*',
  'server/http/{openapi-agreement,error-responses,hostile-bodies,hostile-bytes,newline,parsing-and-signing,malformed-requests}.test.ts',
  'server/http/limits/{budget,connections,memory,rate-limit,slow-clients}.test.ts',
  'server/http/requests/range-header.test.ts',
  'server/runs/execute/{contained-apps,cancel-and-delete}.test.ts',
  'server/runs/logs/log-poll-limiter.test.ts',
  'server/runs/submit/{formats,options}.test.ts',
  'server/runs/results/{hostile-apps,read-results,results,json-field-extractor,statistics}.test.ts',
  'server/secrets/{delivery,mask,masking}.test.ts',
  'server/uploads/downloads.test.ts',
  'server/webhooks/addresses.test.ts',
  'server/{config,random}.test.ts',
];

// Tests boot real servers with real child processes: two workers fill two cores, more only makes them wait.
export default defineConfig({
  test: {
    exclude: ['**/node_modules/**', '**/dist/**', 'data/**'],
    pool: 'forks',
    // Loading the server takes a second, and there are two hundred files: a worker keeps what it has loaded. So no file may
    // leave anything behind in a module or the environment.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    maxWorkers: 2,
    // How long a busy machine may take. What a test waits for comes with a signal, or is asked for again and again.
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
