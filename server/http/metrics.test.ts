/** The numbers for monitoring: queue, durations and results of runs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { createRun, createRunAndWait, nodeApp, pushApp } from '../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';
import { createMetrics, registerQueueMetrics } from './metrics.ts';

let server: TestServer;
let ahead = 0;
const clock = {
  ...systemClock,
  now: () => Date.now() + ahead,
  elapsed: () => performance.now() + ahead,
};
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '1,8c16gb12h=0' } });
});
afterAll(() => server.close());

/** The value of each line of the metrics, by its name with its labels. */
async function scrape(): Promise<Map<string, number>> {
  const { text } = await server.request('GET', '/metrics', { token: null });
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name = '', value = ''] = /^(\S+) (\S+)$/.exec(line) ?? [];
      expect(name, line).not.toBe('');
      return [name, Number(value)];
    }),
  );
}

describe('B19: the metrics', () => {
  test('have the queue by execution class, and how long its oldest run has waited', async () => {
    await pushApp(server, 'app', nodeApp('(input) => input'));
    // No slot serves the class.
    const configuration = { execution_class: '8c16gb12h' };
    for (let left = 3; left > 0; left -= 1) {
      await createRun(server, 'app', { body: { input: {}, configuration } });
      ahead += 10_000;
    }
    const numbers = await scrape();
    expect(numbers.get('switchyard_queue_runs{execution_class="8c16gb12h"}')).toBe(3);
    expect(numbers.get('switchyard_queue_runs{execution_class="6c9500mb870s"}')).toBe(0);
    const waited = numbers.get('switchyard_queue_oldest_seconds{execution_class="8c16gb12h"}');
    expect(waited).toBeGreaterThanOrEqual(30);
    expect(waited).toBeLessThan(60);
    expect(numbers.get('switchyard_queue_oldest_seconds{execution_class="6c9500mb870s"}')).toBe(0);
  });

  test('have the seconds of runs by class and status, and how many ended how', async () => {
    await createRunAndWait(server, 'app', { body: { input: {} } });
    const numbers = await scrape();
    const labels = '{execution_class="6c9500mb870s",status="succeeded"}';
    expect(numbers.get('switchyard_runs_finished_total{status="succeeded"}')).toBe(1);
    expect(numbers.get(`switchyard_run_seconds_count${labels}`)).toBe(1);
    expect(numbers.get(`switchyard_run_seconds_sum${labels}`)).toBeGreaterThan(0);
    expect(
      numbers.get(
        'switchyard_run_seconds_bucket{le="43200",execution_class="6c9500mb870s",status="succeeded"}',
      ),
    ).toBe(1);
  });

  test('ask the database every five seconds at most, and do without it', async () => {
    const metrics = createMetrics();
    let elapsed = 0;
    let reads = 0;
    let isAway = false;
    registerQueueMetrics(metrics, {
      clock: { ...systemClock, now: () => 61_000, elapsed: () => elapsed },
      async read() {
        reads += 1;
        if (isAway) throw new Error('away');
        return [{ execution_class: '16c60gb12h', count: reads, oldest: 1000 }];
      },
    });
    const queued = 'switchyard_queue_runs{execution_class="16c60gb12h"}';
    expect(await metrics.registry.metrics()).toContain(`${queued} 1`);
    elapsed = 4999;
    expect(await metrics.registry.metrics()).toContain(`${queued} 1`);
    expect(reads).toBe(1);
    elapsed = 5000;
    const text = await metrics.registry.metrics();
    expect(text).toContain(`${queued} 2`);
    expect(text).toContain('switchyard_queue_oldest_seconds{execution_class="16c60gb12h"} 60');
    isAway = true;
    elapsed = 10_000;
    expect(await metrics.registry.metrics()).not.toContain(queued);
  });
});
