/**
 * A server with the built console for the tests of a file, and pages that are signed in to it. A page that reports an error
 * of a script or a violation of the security policy fails its test.
 */
import { BrowserSession, collectPageErrors } from '@switchyard/browser-testing/browser.ts';
import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import {
  startTestServer,
  type TestServer,
  type TestServerSettings,
} from '@switchyard/server/testing/servers/test-server.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

/** A window of a laptop, and of a phone. */
const LAPTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };
/** A page of a test shows what it should within this time, also on a busy machine. */
const PAGE_TIMEOUT_MS = 60_000;

interface VisitOptions extends BrowserContextOptions {
  /** Role of the visitor's key; the default is root. */
  role?: Role;
  /** Address of a proxy before the server, which interrupts the connections of the page. */
  address?: string;
}

/** The console of a test file. */
export interface ConsoleVisits {
  readonly server: TestServer;
  readonly visitors: BrowserSession;
  /** Signs in and opens a page of the console; `path` is below `/console`, such as `/apps/routing/runs`. */
  open(path?: string, options?: VisitOptions): Promise<Page>;
  /** Signs in and opens a page on a phone. */
  openOnPhone(path: string): Promise<Page>;
  /** Opens a page without a session. */
  openSignedOut(path: string, options?: BrowserContextOptions): Promise<Page>;
}

/** Sets up server and browser for the tests of a file. `prepare` makes the data that all of them show. */
export function setUpConsole(
  prepare: (server: TestServer) => Promise<void> = async () => {},
  settings: TestServerSettings = {},
): ConsoleVisits {
  const visitors = new BrowserSession();
  let started: TestServer | undefined;
  const problems: string[] = [];
  beforeAll(async () => {
    started = await startTestServer({ console: inject('builtConsole'), ...settings });
    await Promise.all([prepare(started), visitors.launch()]);
  });
  afterEach(async () => {
    await visitors.closePages();
    expect(problems.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await started?.close();
  });
  const getServer = (): TestServer => {
    if (!started) throw new Error('The server starts before the tests.');
    return started;
  };
  const newPage = async (options: BrowserContextOptions, isInterrupted = false): Promise<Page> => {
    // Moving placeholders and transitions would be a tenth of the processor time of a visit.
    const page = await visitors.newPage({ viewport: LAPTOP, reducedMotion: 'reduce', ...options });
    page.setDefaultTimeout(PAGE_TIMEOUT_MS);
    collectPageErrors(page, problems, isInterrupted);
    return page;
  };
  const openSignedIn = async (path: string, { role, address, ...options }: VisitOptions): Promise<Page> => {
    const server = getServer();
    const token = role === undefined ? server.token : (await server.createKey(role)).token;
    const page = await newPage(options, address !== undefined);
    const url = address ?? server.url;
    await signIn(page, url, token);
    await page.goto(`${url}/console${path || '/'}`);
    return page;
  };
  return {
    get server() {
      return getServer();
    },
    visitors,
    open: (path = '', options = {}) => openSignedIn(path, options),
    openOnPhone: (path) => openSignedIn(path, { viewport: PHONE }),
    async openSignedOut(path, options = {}) {
      const page = await newPage(options);
      await page.goto(`${getServer().url}/console${path}`);
      return page;
    },
  };
}

/**
 * Gives the browser the cookie of a new session. A sign-in by a link would load the first page of the console before the
 * page of the test, which is a third of the cost of a visit.
 */
export async function signIn(page: Page, origin: string, token: string): Promise<void> {
  const response = await page.context().request.post(`${origin}/v1/account/sessions`, {
    headers: { authorization: `Bearer ${token}`, origin, [CONSOLE_HEADER]: '1' },
    data: {},
  });
  if (!response.ok()) throw new Error(`The sign-in failed: ${response.status()} ${await response.text()}`);
}
