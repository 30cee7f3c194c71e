import { defineConfig } from 'vitest/config';

// Tests boot real servers with real child processes: two workers fill two cores, more only makes them wait.
export default defineConfig({
  test: {
    exclude: ['**/node_modules/**', '**/dist/**', 'data/**'],
    pool: 'forks',
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
          exclude: ['site/**'],
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
