import { defineConfig } from 'vitest/config';
import { LongestFirst } from './vitest.sequence.ts';

/**
 * What is the same on either database, because it ends before a statement is made or is about the app: it is tested on
 * SQLite alone, which takes a quarter off the time that the tests take on PostgreSQL.
 */
const SAME_ON_BOTH = [
  'server/api/published-client*',
  'server/api/{readiness,search,site}.test.ts',
  'server/applications/archives.test.ts',
  'server/backup/refusals.test.ts',
  'server/blobs/damaged.test.ts',
  'server/installation/rules.test.ts',
  'server/experiments/{simulate,analyse,acceptance-metrics,acceptance-reasons}.test.ts',
  'server/experiments/statistics/*',
  'server/http/{agreement,budget,byte-range,connections,error-responses,hostile-bodies,hostile-bytes,memory,newline,pure,rate-limit,requests,slow-callers}.test.ts',
  'server/runs/{contained-apps,end,follow-pace,formats,hostile-apps,options,read-results,results,skim-json,statistics}.test.ts',
  'server/secrets/{delivery,mask,masking}.test.ts',
  'server/uploads/downloads.test.ts',
  'server/webhooks/addresses.test.ts',
  'server/testing/torture/code.test.ts',
  // A minute on PostgreSQL, where it is run by hand for longer: `npm run torture -- --database postgres`.
  'server/testing/torture/torture.test.ts',
  // The one of lists runs on both by itself.
  'server/testing/benchmarks.test.ts',
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
          exclude: ['site/**', ...(process.env.DATABASE === 'postgres' ? SAME_ON_BOTH : [])],
          globalSetup: ['server/testing/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'site',
          include: ['site/**/*.test.ts', 'site/**/*.test.tsx'],
          globalSetup: ['server/testing/global-setup.ts', 'site/testing/global-setup.ts'],
        },
      },
    ],
  },
});
