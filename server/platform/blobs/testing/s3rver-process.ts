/**
 * Runs an S3 server over a folder until its parent process ends: `s3rver-process.ts <folder> <bucket>`.
 *
 * Writes are atomic here, as in S3: s3rver reads the size of an object before it opens the file, and writes in place. A reader
 * of an object that another server replaced got a part of it, or more bytes than announced.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import S3rver from '@20minutes/s3rver';
import PQueue from 'p-queue';

const [directory = '', bucket = ''] = process.argv.slice(2);
const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  directory,
  silent: true,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
});
const { store } = server;
const openings = new PQueue({ concurrency: 1 });
const open = store.getObject.bind(store);
store.getObject = (...request) => openings.add(() => open(...request));
store.putObject = async ({ bucket: name, key, content, metadata }) => {
  const path = store.getResourcePath(name, key, 'object');
  const draft = `${path}.${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true });
  const [size, md5] = await store.putContent(draft, content);
  await openings.add(async () => {
    await rename(draft, path);
    await store.putMetadata(name, key, metadata, md5);
  });
  return { size, md5 };
};
const { port } = await server.run();
process.on('disconnect', () => process.exit());
process.send?.(port);
