/**
 * Serves a built site with the product's own server, on a free port and an empty data folder. A separate process keeps
 * the server from slowing down the measuring one: `node serve-site.ts <folder>` sends its URL to the process that
 * forked it, and exits when that process ends.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../server/main.ts';
import { readConfig } from '../../server/platform/config.ts';
import { createLog } from '../../server/platform/log.ts';

const [site = ''] = process.argv.slice(2);
const data = mkdtempSync(join(tmpdir(), 'switchyard-site-'));
const config = readConfig({
  SWITCHYARD_PORT: '0',
  SWITCHYARD_DATA: data,
  SWITCHYARD_RATE_LIMIT: '0',
});
const server = await startServer(config, { log: createLog('error'), site });
process.on('disconnect', async () => {
  await server.close();
  rmSync(data, { recursive: true, force: true });
  process.exit();
});
process.send?.(server.url);
