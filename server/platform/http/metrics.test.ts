/** The metrics of the queue, and of the durations and results of runs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { systemClock } from '../clock.ts';
import { createMetrics, registerQueueMetrics, registerStoredGauge } from './metrics.ts';

let server: TestServer;
let offsetMs = 0;
const clock = {
  ...systemClock,
  now: () => Date.now() + offsetMs,
  elapsed: () => performance.now() + offsetMs,
};
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '1,8c16gb12h=0' } });
});
afterAll(() => server.close());

/** Returns the value of each metric by its name with labels. */
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
  test('count queued runs and measure the wait of the oldest one by execution class', async () => {
    await pushApp(server, 'app', nodeApp('(input) => input'));
    // The capacity has no slot for the class, so the runs stay queued.
    const configuration = { execution_class: '8c16gb12h' };
    for (let remaining = 3; remaining > 0; remaining -= 1) {
      await createRun(server, 'app', { body: { input: {}, configuration } });
      offsetMs += 10_000;
    }
    const metrics = await scrape();
    expect(metrics.get('switchyard_queue_runs{execution_class="8c16gb12h"}')).toBe(3);
    expect(metrics.get('switchyard_queue_runs{execution_class="6c9500mb870s"}')).toBe(0);
    const waited = metrics.get('switchyard_queue_oldest_seconds{execution_class="8c16gb12h"}');
    expect(waited).toBeGreaterThanOrEqual(30);
    expect(waited).toBeLessThan(60);
    expect(metrics.get('switchyard_queue_oldest_seconds{execution_class="6c9500mb870s"}')).toBe(0);
  });

  test('measure execution time by class and status, and count finished runs by status', async () => {
    await createRunAndWait(server, 'app', { body: { input: {} } });
    const metrics = await scrape();
    const labels = '{execution_class="6c9500mb870s",status="succeeded"}';
    expect(metrics.get('switchyard_runs_finished_total{status="succeeded"}')).toBe(1);
    expect(metrics.get(`switchyard_run_seconds_count${labels}`)).toBe(1);
    expect(metrics.get(`switchyard_run_seconds_sum${labels}`)).toBeGreaterThan(0);
    expect(
      metrics.get(
        'switchyard_run_seconds_bucket{le="43200",execution_class="6c9500mb870s",status="succeeded"}',
      ),
    ).toBe(1);
  });

  test('read the database at most every five seconds, and omit the queue when it is unavailable', async () => {
    const metrics = createMetrics();
    let elapsed = 0;
    let reads = 0;
    let isUnavailable = false;
    registerQueueMetrics(metrics, {
      clock: { ...systemClock, now: () => 61_000, elapsed: () => elapsed },
      async read() {
        reads += 1;
        if (isUnavailable) throw new Error('database unavailable');
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
    isUnavailable = true;
    elapsed = 10_000;
    expect(await metrics.registry.metrics()).not.toContain(queued);
  });

  test('omit a stored gauge without labels while its value cannot be read', async () => {
    const metrics = createMetrics();
    let stored: number | null = 3;
    registerStoredGauge(metrics, async () => stored, {
      ...{ name: 'stored_runs', help: 'Runs.', labelNames: [] },
      list: (value) => [[{}, value]],
    });
    expect(await metrics.registry.metrics()).toMatch(/^stored_runs 3$/m);
    stored = null;
    expect(await metrics.registry.metrics()).not.toMatch(/^stored_runs \d/m);
  });
});
