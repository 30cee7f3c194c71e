/** Runs an S3 server over a folder until its parent process ends: `s3rver-process.ts <folder> <bucket>`. */
import S3rver from '@20minutes/s3rver';

const [directory = '', bucket = ''] = process.argv.slice(2);
const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  directory,
  silent: true,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
});
const { port } = await server.run();
process.on('disconnect', () => process.exit());
process.send?.(port);
