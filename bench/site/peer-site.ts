/** Converts the output of another builder into a folder that the product's server serves like this site. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants as zlib } from 'node:zlib';

const COMPRESSED = new Set(['.html', '.js', '.css', '.json', '.svg', '.txt', '.xml']);
const BYTES_MIN = 1024;
const toBrotli = promisify(brotliCompress);

/**
 * Adds compressed copies at the level of this site. Its policy allows everything that the other pages need: inline
 * scripts and styles, and Starlight's search WebAssembly.
 */
export async function prepareFolder(folder: string): Promise<void> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const work = paths.map(async (path) => {
    const content = readFileSync(path);
    if (!COMPRESSED.has(extname(path)) || content.length < BYTES_MIN) return;
    const params = {
      [zlib.BROTLI_PARAM_SIZE_HINT]: content.length,
      [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY,
    };
    writeFileSync(`${path}.br`, await toBrotli(content, { params }));
  });
  await Promise.all(work);
  const policy = { scripts: ["'unsafe-inline'", "'wasm-unsafe-eval'"], styles: ["'unsafe-inline'"] };
  writeFileSync(join(folder, 'csp.json'), JSON.stringify(policy));
  writeFileSync(join(folder, 'search.json'), '[]');
}
