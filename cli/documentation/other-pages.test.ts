/** The first start, and every example of the pages that are not below "Using Switchyard", as their reader runs them. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pushAndRunSample } from '../first-run/push-and-run-sample.ts';
import { listStories, PAGE_MS, StoryTeller } from '../testing/page-stories.ts';

let teller: StoryTeller;
beforeAll(async () => {
  teller = await StoryTeller.start();
});
afterAll(() => teller.close());

describe('the first start', () => {
  test('pushes every sample app and plans the routing app’s sample input', () => {
    expect(teller.first.error).toBe('');
    expect(teller.first.status).toBe('succeeded');
    expect(teller.first.value).toBeGreaterThan(0);
    expect(teller.output).toContain('pushed vehicle-routing');
  });

  test('pushes nothing twice', async () => {
    const apps = join(import.meta.dirname, '..', '..', 'sample-apps');
    const again = await pushAndRunSample(teller.server.client, apps, () => {});
    expect(again.pushedApplications).toEqual([]);
    const { body } = await teller.server.client.call('getInput', {
      params: { application_id: 'vehicle-routing', input_id: 'sample' },
    });
    expect(body.run_id).toBe(teller.first.runId);
  });
});

describe('the examples of', () => {
  test.each(listStories('/docs/using-switchyard/', false))(
    '%s',
    (_name, route, choice) => teller.tell(route, choice),
    PAGE_MS + 10_000,
  );
});
