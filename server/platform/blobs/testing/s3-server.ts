/**
 * The S3 server of the tests: s3rver in a process of its own, on a free port of the loopback interface. It checks
 * signatures (version 4) and stores objects as files, so that a test can set the time of one. It does not compare the body
 * with its signed hash; set `SWITCHYARD_TEST_S3` to test a server that does.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { S3Credentials } from '../s3-requests.ts';

/** The S3 server of the tests. */
export interface S3Server {
  endpoint: string;
  bucket: string;
  credentials: S3Credentials;
  /** The settings of a Switchyard server that stores its blobs in the bucket. */
  env: Record<'SWITCHYARD_BLOBS' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY', string>;
  /** Writes the file of an object directly. */
  writeObject(name: string, content: string): Promise<void>;
  setWrittenAt(name: string, at: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the server with one empty bucket. */
export async function startS3Server(): Promise<S3Server> {
  const bucket = 'switchyard-test';
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-s3-'));
  // s3rver encrypts continuation tokens with DES, which is a legacy cipher of OpenSSL 3.
  const child = fork(join(import.meta.dirname, 's3rver-process.ts'), [folder, bucket], {
    execArgv: ['--openssl-legacy-provider'],
  });
  const port = await Promise.race([
    once(child, 'message').then(([first]) => Number(first)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The S3 server of the tests ended with code ${code} before it listened.`);
    }),
  ]);
  const findObjectPath = (name: string): string => join(folder, bucket, `${name}._S3rver_object`);
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials: S3Credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  return {
    ...{ endpoint, bucket, credentials },
    env: {
      SWITCHYARD_BLOBS: `s3://${bucket}?endpoint=${endpoint}`,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    async writeObject(name, content) {
      await mkdir(dirname(findObjectPath(name)), { recursive: true });
      await writeFile(findObjectPath(name), content);
    },
    setWrittenAt: (name, at) => utimes(findObjectPath(name), at / 1000, at / 1000),
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
