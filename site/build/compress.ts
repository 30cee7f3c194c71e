import { extname } from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';

/** Text that is worth compressing; pictures with pixels are small already. */
const texts = new Set(['.html', '.md', '.js', '.css', '.svg', '.txt', '.xml']);
/** Below it an answer fits into one packet anyway. */
const bytesMin = 1024;

/** A `.br` and a `.gz` copy of every file that gets smaller by it. The build is rare and a page read often, so the best level. */
export function compressedCopies(files: ReadonlyMap<string, string | Buffer>): Map<string, Buffer> {
  const copies = new Map<string, Buffer>();
  for (const [path, content] of files) {
    const bytes = Buffer.from(content);
    if (!texts.has(extname(path)) || bytes.length < bytesMin) continue;
    const params = { [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    copies.set(`${path}.br`, brotliCompressSync(bytes, { params }));
    copies.set(`${path}.gz`, gzipSync(bytes, { level: zlib.Z_BEST_COMPRESSION }));
  }
  return copies;
}
