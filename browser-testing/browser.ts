/** The browser of this machine. Tests that need one are skipped without it. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

/** Chromium without windows comes first, because it takes less processor time (scripts/tools.mjs). */
const BROWSERS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** Returns the path of the first of the programs that this machine has. */
export function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const browserPath = findProgram(BROWSERS);
export const hasBrowser = browserPath !== undefined;

/**
 * Features that are off. Chromium takes the last list alone, so this one repeats the one of Playwright without those of other
 * systems. The popups of the address bar come first: each window started a process for them, half the cost of a context.
 */
const DISABLED_FEATURES = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

/**
 * Flags of tests, which see a page for a second: its scripts end before an optimising compiler pays, and one thread draws
 * it. With both, a visit takes a tenth less processor time.
 */
const SHORT_VISITS = ['--js-flags=--max-opt=1', '--num-raster-threads=1'];

/** Starts a browser. All sites share a process, because a process for each address takes a third of the time of a visit. */
export function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const args = [
    ...more,
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-site-isolation-trials',
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
  ];
  return chromium.launch({ ...(browserPath !== undefined && { executablePath: browserPath }), args });
}

/**
 * Adds errors of scripts and violations of the security policy to `problems`. Lost connections are no problem of a page whose
 * network a test interrupts.
 */
export function collectPageErrors(page: Page, problems: string[], isInterrupted = false): void {
  const isExpected = (text: string): boolean =>
    text.includes('the server responded with') || (isInterrupted && text.includes('net::ERR_'));
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !isExpected(message.text())) problems.push(message.text());
  });
}

/**
 * Playwright's component tests reuse a context through these functions, which have no public types. The reset navigates to an
 * empty page, and removes storage, cookies, routes, init scripts, clocks and emulated media.
 */
interface ReusesContext {
  _newContextForReuse(options: BrowserContextOptions): Promise<BrowserContext>;
  _disconnectFromReusedContext(reason: string): Promise<void>;
}

/** Returns the options that last as long as a context. The reset changes the others. */
function formatFixedOptions(options: BrowserContextOptions): string {
  const reset = {
    viewport: undefined,
    colorScheme: undefined,
    forcedColors: undefined,
    reducedMotion: undefined,
  };
  return JSON.stringify({ ...options, ...reset });
}

/** The browser of all files that a worker of the test runner executes. It ends with the worker. */
let shared: Promise<Browser & ReusesContext> | undefined;

/**
 * The pages that the tests of a file have opened, each as a new visitor, in the browser of the worker: a start takes a second
 * of a core. The first page of each test reuses one context, if its options allow it, and saves a quarter of a second.
 */
export class BrowserSession {
  #browser: (Browser & ReusesContext) | undefined;
  #open: Page[] = [];
  #reused: BrowserContext | undefined;
  /** true: the reset would leave timers of the installed clock, which fail in the next test. */
  #hasClock = false;
  #fixedOptions: string | undefined;

  async launch(): Promise<void> {
    const running = await shared?.catch(() => undefined);
    // After a crash or a failed start, the next file has a new browser.
    if (!running?.isConnected()) shared = launchBrowser(SHORT_VISITS) as Promise<Browser & ReusesContext>;
    this.#browser = await shared;
  }

  async newPage(options: BrowserContextOptions): Promise<Page> {
    const browser = this.#browser;
    if (!browser) throw new Error('Call launch before newPage.');
    const fixedOptions = formatFixedOptions(options);
    this.#fixedOptions ??= fixedOptions;
    if (!this.#reused && fixedOptions === this.#fixedOptions) {
      this.#reused = await browser._newContextForReuse(options);
      return this.#reused.pages()[0] ?? this.#reused.newPage();
    }
    const context = await browser.newContext(options);
    const page = await context.newPage();
    this.#open.push(page);
    return page;
  }

  /** Installs a clock that the test drives; the context of the page is not reused. */
  async installClock(page: Page, time: number): Promise<void> {
    this.#hasClock = true;
    await page.clock.install({ time });
  }

  /** Closes the pages; called after each test. */
  async closePages(): Promise<void> {
    if (this.#hasClock) await this.#reused?.close();
    else if (this.#reused) await this.#browser?._disconnectFromReusedContext('The test has ended.');
    this.#hasClock = false;
    this.#reused = undefined;
    await Promise.all(this.#open.map((page) => page.context().close()));
    this.#open = [];
  }
}
