/** Which store of blobs the settings name, and where the one of the data folder lies. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { openDiskBlobs } from './disk.ts';
import { openS3Blobs } from './s3.ts';
import type { BlobStore } from './store.ts';

export const blobsFolder = (dataFolder: string): string => join(dataFolder, 'blobs');

export async function openBlobs({ s3, data }: Config): Promise<BlobStore> {
  return s3
    ? openS3Blobs(s3.address, s3.credentials, { spool: join(data, 'spool') })
    : openDiskBlobs(blobsFolder(data));
}
