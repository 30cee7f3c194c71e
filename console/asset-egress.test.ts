/**
 * Assets that try to send something from the browser of the person who looks at them. Listeners for connections, datagrams
 * and names hear every attempt that leaves the browser.
 */
import { browserPath, hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRunAndWait, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { type Browser, chromium, type Frame, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { signIn } from './testing/console-visit.ts';
import {
  type EgressListener,
  listenForEgress,
  listenForNames,
  type NameListener,
} from './testing/egress-listeners.ts';
import { ECHO_APP, ECHO_APP_TYPE } from './testing/hostile-output.ts';
import { buildLeakingOutput } from './testing/leaking-assets.ts';

const WARNING = 'This page can send what it shows to its author.';

describe.skipIf(!hasBrowser)('assets that leak', () => {
  let server: TestServer;
  let browser: Browser;
  let fromCharts: EgressListener;
  let fromPage: EgressListener;
  let names: NameListener | undefined;
  let run = '';

  beforeAll(async () => {
    [server, fromCharts, fromPage, names] = await Promise.all([
      startTestServer({ console: inject('builtConsole') }),
      listenForEgress(),
      listenForEgress(),
      listenForNames(String(browserPath)),
    ]);
    // Without a resolver of the test, no name may leave this machine.
    const program = names?.program ?? String(browserPath);
    const rules = names ? [] : ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
    browser = await chromium.launch({
      executablePath: program,
      args: ['--no-sandbox', '--disable-gpu', ...rules],
    });
    await pushApp(server, 'leaking', ECHO_APP, ECHO_APP_TYPE);
    const input = buildLeakingOutput(fromCharts.host, fromPage.host);
    run = (await createRunAndWait(server, 'leaking', { input })).id;
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([server.close(), fromCharts.close(), fromPage.close(), names?.close()]);
  });

  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    await signIn(page, server.url, server.token);
    await page.goto(`${server.url}/console/apps/leaking/runs/${run}/content?part=assets`);
    return page;
  };
  const listNames = (prefix: string) => [...new Set(names?.names.filter((name) => name.startsWith(prefix)))];

  test('A2: charts and maps send nothing and run no script of the app; a page does so after a click alone', async () => {
    const page = await open();
    await page.getByRole('img', { name: 'Map' }).waitFor();
    const chart = await findFrame(page, 'chartjs 1');
    await chart.getByRole('img', { name: 'chartjs 1' }).click();
    const plot = await findFrame(page, 'plotly 1');
    await plot.locator('.main-svg').first().waitFor();
    // A press on each link of the texts would navigate the frame.
    const links = await plot.locator('a').all();
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) await link.dispatchEvent('click');
    for (const frame of [chart, plot]) expect(await frame.evaluate(probeFrame)).toEqual([]);
    const { headers } = await fetch(chart.url());
    expect(headers.get('content-security-policy')).toMatch(/; script-src( 'sha256-[\w+/=]+'){3};/);
    await page.getByText(WARNING, { exact: true }).waitFor();
    expect(page.frames().map((frame) => new URL(frame.url()).pathname)).not.toContain(
      '/console/page-frame.html',
    );
    expect([fromPage.connections, fromPage.datagrams, listNames('page-')]).toEqual([0, 0, []]);
    await page.getByRole('button', { name: 'Run page' }).click();
    // The policy of the frame stops everything but WebRTC, which tells that the listeners hear what leaves the browser.
    await expect.poll(() => fromPage.datagrams).toBeGreaterThan(0);
    if (names) await expect.poll(() => listNames('page-').length).toBe(2);
    expect(listNames('page-').toSorted()).toEqual(
      names ? ['page-stun.leak.example', 'page-turn.leak.example'] : [],
    );
    expect(fromPage.connections).toBe(0);
    expect([fromCharts.connections, fromCharts.datagrams, listNames('data-')]).toEqual([0, 0, []]);
  });
});

async function findFrame(page: Page, title: string): Promise<Frame> {
  const handle = await page.locator(`iframe[title="${title}"]`).elementHandle();
  const frame = await handle?.contentFrame();
  if (!frame) throw new Error(`There is no frame ${title}.`);
  return frame;
}

/** Runs in a frame of a chart: returns the ways in which a text of an app would run there. */
function probeFrame(): string[] {
  const reached: string[] = [];
  if ('wasHacked' in globalThis) reached.push('A text of the app ran.');
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport'])
    if (name in globalThis) reached.push(name);
  const script = document.createElement('script');
  script.textContent = 'globalThis.ranScript = true';
  document.body.append(script);
  const button = document.createElement('button');
  button.setAttribute('onclick', 'globalThis.ranHandler = true');
  document.body.append(button);
  button.click();
  const link = document.createElement('a');
  link.href = 'javascript:globalThis.ranLink = true';
  document.body.append(link);
  link.click();
  for (const name of ['ranScript', 'ranHandler', 'ranLink']) if (name in globalThis) reached.push(name);
  return reached;
}
