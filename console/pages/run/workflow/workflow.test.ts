/** The workflow of a run on its page: the graph while it runs, and after its end. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import {
  createRunAndWait,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '@switchyard/server/testing/fixtures/apps.ts';
import {
  createCallingRun,
  pushCallingApp,
} from '@switchyard/server/testing/fixtures/workflows/calling-app.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../../testing/accessibility.ts';
import { setUpConsole } from '../../../testing/console-visit.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasBrowser)('the workflow of a run', () => {
  let child = '';
  let run = '';
  const at = setUpConsole(async (server) => {
    const leaf = { main: '#!/bin/sh\ncat > /dev/null\necho "{}"\n' };
    await pushApp(server, 'leaf', leaf, { executable_type: 'binary', runtime: 'native' });
    await pushCallingApp(server, 'planning', ['leaf']);
    child = (await createRunAndWait(server, 'leaf', { input: {} })).id;
    run = await createCallingRun(server, 'planning', { requests: [], staysOpen: true });
    await waitForLogLine(server, 'planning', run, 'sent');
  });

  const node = (parent: string, status: string, index: number, run_id?: string) => ({
    ...{ id: `${parent}_${index}`, parent_id: parent, predecessor_ids: [], status },
    ...(run_id ? { run_id } : {}),
  });
  const send = (...nodes: ReturnType<typeof node>[]) =>
    at.server.client.call('updateRunFlow', {
      params: { application_id: 'planning', run_id: run } as never,
      body: {
        pipeline_graph: {
          steps: [
            { id: 'prepare', predecessors: [], docs: 'Reads the input.' },
            { id: 'solve', predecessors: ['prepare'], app_id: 'leaf' },
            { id: HOSTILE, predecessors: ['solve'] },
          ],
          nodes,
        },
      },
    });

  test('shows the graph with its runs, follows it, and says what the end left open', async () => {
    await send(node('prepare', 'running', 0));
    const page = await at.open(`/apps/planning/runs/${run}`);
    await page.getByRole('tab', { name: 'Workflow' }).click();
    const graph = page.getByRole('region', { name: 'Graph of the workflow' });
    const read = async () =>
      (await graph.getByRole('listitem').allInnerTexts()).map((text) => text.split('\n'));
    await graph.getByText('Running').waitFor();
    expect(await read()).toEqual([
      ['prepare', 'Running'],
      ['solve', 'Queued', 'runs leaf'],
      [HOSTILE, 'Queued'],
    ]);
    await send(
      node('prepare', 'succeeded', 0),
      node('solve', 'succeeded', 0, child),
      node('solve', 'running', 1),
    );
    await graph.getByText('runs leaf, 1 of 2').waitFor();
    const [from, to] = await Promise.all(
      ['prepare', 'solve'].map((name) => graph.getByText(name, { exact: true }).boundingBox()),
    );
    expect(to?.x).toBeGreaterThan((from?.x ?? 0) + (from?.width ?? 0));
    expect(await page.getByRole('link', { name: child }).getAttribute('href')).toBe(
      `/console/apps/leaf/runs/${child}`,
    );
    await at.server.request('PATCH', `/v1/applications/planning/runs/${run}/cancel`);
    await waitForRunEnd(at.server, 'planning', run);
    await page.getByRole('row', { name: 'solve solve_1 Canceled leaf' }).waitFor();
    const phone = await at.openOnPhone(`/apps/planning/runs/${run}?tab=workflow`);
    await phone.getByRole('region', { name: 'Graph of the workflow' }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
  });

  test('a run without access to the API has no such tab', async () => {
    const page = await at.open(`/apps/leaf/runs/${child}`);
    await page.getByRole('tab', { name: 'Log' }).waitFor();
    expect(await page.getByRole('tab', { name: 'Workflow' }).count()).toBe(0);
  });
});
