/** The browser of this machine. Tests that need one are skipped without it. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

function findBrowser(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const paths = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const executablePath = findBrowser();
export const hasBrowser = executablePath !== undefined;

export function launchBrowser(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ ...(executablePath !== undefined && { executablePath }), args });
}

/** Adds errors of scripts and violations of the security policy to `problems`. */
export function collectPageErrors(page: Page, problems: string[]): void {
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('the server responded with'))
      problems.push(message.text());
  });
}

/** The browser of a test file, and the pages that its tests have opened, each as a new visitor. */
export class BrowserSession {
  #browser: Browser | undefined;
  #open: Page[] = [];

  async launch(): Promise<void> {
    this.#browser = await launchBrowser();
  }

  async newPage(options: BrowserContextOptions): Promise<Page> {
    if (!this.#browser) throw new Error('Let the visitors arrive first.');
    const context = await this.#browser.newContext(options);
    const page = await context.newPage();
    this.#open.push(page);
    return page;
  }

  /** Closes the pages; called after each test. */
  async closePages(): Promise<void> {
    await Promise.all(this.#open.map((page) => page.context().close()));
    this.#open = [];
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }
}
