import type { Frame, Page } from 'playwright-core';

/** A frame of a page that has its own width and document. The browser lays it out and does not paint it. */
export interface HiddenFrame {
  frame: Frame;
  setWidth(widthPx: number): Promise<void>;
}

/**
 * Replaces the content of a page by a hidden frame. Painting takes a third of the time of a page whose layout alone is
 * checked.
 */
export async function openHiddenFrame(page: Page): Promise<HiddenFrame> {
  await page.evaluate(() => {
    const hidden = document.createElement('iframe');
    hidden.style.cssText = 'visibility: hidden; border: 0; height: 900px';
    document.body.replaceChildren(hidden);
  });
  const frame = page.frames()[1];
  if (!frame) throw new Error('The page has no frame.');
  return {
    frame,
    setWidth: (widthPx) =>
      page.evaluate(
        (width) => document.querySelector('iframe')?.style.setProperty('width', `${width}px`),
        widthPx,
      ),
  };
}
