/**
 * Draws favicon.ico with the mark in three sizes, for programs that request it without reading a page. Run it when the
 * mark changes; it needs a browser: `node site/testing/draw-favicon.ts`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchBrowser } from '@switchyard/browser-testing/browser.ts';

const sizes = [16, 32, 48];
const mark =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke-width="4.5" stroke-linecap="round">' +
  '<path stroke="#a39a8c" d="M3 23h26M3 9h26"/><path stroke="#e8590c" d="M5 23c11 0 11-14 22-14"/></svg>';

const browser = await launchBrowser();
const page = await browser.newPage();
const pictures: Buffer[] = [];
for (const size of sizes) {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${mark}`);
  pictures.push(await page.screenshot({ omitBackground: true, type: 'png' }));
}
await browser.close();

// An icon file is a list with the offset of each picture, and then the pictures, which may be PNGs.
const head = Buffer.alloc(6 + 16 * sizes.length);
head.writeUInt16LE(1, 2);
head.writeUInt16LE(sizes.length, 4);
let offset = head.length;
for (const [index, picture] of pictures.entries()) {
  const at = 6 + 16 * index;
  const size = sizes[index] ?? 0;
  head.writeUInt8(size, at);
  head.writeUInt8(size, at + 1);
  head.writeUInt16LE(1, at + 4);
  head.writeUInt16LE(32, at + 6);
  head.writeUInt32LE(picture.length, at + 8);
  head.writeUInt32LE(offset, at + 12);
  offset += picture.length;
}
writeFileSync(join(import.meta.dirname, '..', 'pictures', 'favicon.ico'), Buffer.concat([head, ...pictures]));
