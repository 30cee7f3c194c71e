import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import type { Picture } from '../../page-data.ts';

/** Reads pictures of one page, and collects the files to write for them (address → bytes). */
export type PageImages = { read(src: string): Picture | { fault: string }; files: Map<string, Buffer> };

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Parts that an inlined drawing must not have: the content security policy would refuse them, or they would run. */
const forbidden: [RegExp, string][] = [
  [/<script\b/i, 'a script'],
  [/<style\b/i, 'a style element'],
  [/\sstyle\s*=/i, 'a style attribute'],
  [/\son[a-z]+\s*=/i, 'an event handler'],
  [/<foreignObject\b/i, 'foreign objects'],
  [/javascript:/i, 'a link to a script'],
];

function readSvg(src: string, bytes: Buffer): Picture | { fault: string } {
  const text = bytes.toString('utf8').trim();
  const found = forbidden.find(([pattern]) => pattern.test(text));
  if (found)
    return { fault: `The picture "${src}" holds ${found[1]}; use the classes of styles/picture.css.` };
  if (!/^<svg\b[^>]*\bviewBox=/.test(text))
    return { fault: `The picture "${src}" must be one svg element with a viewBox.` };
  return { markup: text };
}

/**
 * Reads pictures from the folder of a page. Addresses contain a hash of the bytes, so caches never go stale. The picture
 * `name-dark.png` beside `name.png` takes its place in the dark theme.
 */
export function createImageReader(pagePath: string): PageImages {
  const files = new Map<string, Buffer>();
  const folder = dirname(pagePath);
  const addFile = (bytes: Buffer): string => {
    const url = `/assets/${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.png`;
    files.set(url, bytes);
    return url;
  };
  return {
    files,
    read(src) {
      const path = resolve(folder, src);
      if (!statSync(path, { throwIfNoEntry: false })?.isFile())
        return { fault: `The picture "${src}" does not exist in the folder of this page.` };
      const bytes = readFileSync(path);
      const extension = extname(path);
      if (extension === '.svg') return readSvg(src, bytes);
      // The size stands in the first 24 bytes.
      if (extension !== '.png' || bytes.length < 24 || !bytes.subarray(0, 8).equals(pngSignature)) {
        return { fault: `The picture "${src}" is neither a PNG nor an SVG file.` };
      }
      const darkPath = path.replace(/\.png$/, '-dark.png');
      return {
        url: addFile(bytes),
        ...(existsSync(darkPath) && { darkUrl: addFile(readFileSync(darkPath)) }),
        width: bytes.readUInt32BE(16),
        height: bytes.readUInt32BE(20),
      };
    },
  };
}
