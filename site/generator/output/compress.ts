import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

/** Text that is worth compressing; pictures with pixels are small already. */
const texts = new Set(['.html', '.md', '.js', '.css', '.svg', '.txt', '.xml', '.atom']);
/** Below it an answer fits into one packet anyway. */
const bytesMin = 1024;

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

async function compressed(bytes: Buffer): Promise<{ br: Buffer; gz: Buffer }> {
  const params = {
    [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY,
  };
  const [br, gz] = await Promise.all([
    toBrotli(bytes, { params }),
    toGzip(bytes, { level: zlib.Z_BEST_COMPRESSION }),
  ]);
  return { br, gz };
}

/**
 * A `.br` and a `.gz` copy of every file that gets smaller by it. The build is rare and a page read often, so the best
 * level; it is most of the time of a build, so every core takes part, and what two addresses share is compressed once.
 */
export async function compressFiles(
  files: ReadonlyMap<string, string | Buffer>,
): Promise<Map<string, Buffer>> {
  const known = new Map<string | Buffer, ReturnType<typeof compressed>>();
  const copies = new Map<string, Buffer>();
  const work = [...files].map(async ([path, content]) => {
    if (!texts.has(extname(path)) || Buffer.byteLength(content) < bytesMin) return;
    const copy = known.get(content) ?? compressed(Buffer.from(content));
    known.set(content, copy);
    const { br, gz } = await copy;
    copies.set(`${path}.br`, br);
    copies.set(`${path}.gz`, gz);
  });
  await Promise.all(work);
  return copies;
}
