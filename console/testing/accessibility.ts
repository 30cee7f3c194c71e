/** The check of accessibility that every page of the console passes. */
import { runAxeThemeRules, runAxeWithContrast } from '@switchyard/browser-testing/axe.ts';
import type { Page } from 'playwright-core';

/**
 * Returns the violations in the page in both themes, and whether it is wider than its window. The second theme needs only the
 * rules that depend on it.
 */
export async function findAccessibilityProblems(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  await waitForTransitions(page);
  const inLight = await runAxeWithContrast(page, 'all');
  await page.emulateMedia({ colorScheme: 'dark' });
  await waitForTransitions(page);
  const inDark = await runAxeThemeRules(page);
  const { content, window } = await page.evaluate(() => ({
    content: document.documentElement.scrollWidth,
    window: document.documentElement.clientWidth,
  }));
  return [
    ...inLight.map((violation) => `light: ${violation}`),
    ...inDark.map((violation) => `dark: ${violation}`),
    ...(content > window ? [`The page is ${content} px wide in a window of ${window} px.`] : []),
  ];
}

/** Waits until the colours that fade to the other theme have arrived. */
async function waitForTransitions(page: Page): Promise<void> {
  await page.evaluate(() =>
    Promise.allSettled(
      document.getAnimations().flatMap((each) => (each instanceof CSSTransition ? [each.finished] : [])),
    ),
  );
}
