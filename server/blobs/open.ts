/** Which store of blobs the settings name, and where the one of the data folder lies. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { openDiskBlobs, readDiskBlobs } from './disk.ts';
import { openS3Blobs, readS3Blobs } from './s3.ts';
import type { BlobReader, BlobStore } from './store.ts';

export const blobsFolder = (dataFolder: string): string => join(dataFolder, 'blobs');

export async function openBlobs({ s3, data }: Config): Promise<BlobStore> {
  return s3
    ? openS3Blobs(s3.address, s3.credentials, { spool: join(data, 'spool') })
    : openDiskBlobs(blobsFolder(data));
}

/** For a process that changes nothing. */
export async function readBlobs({ s3, data }: Config): Promise<BlobReader> {
  return s3 ? readS3Blobs(s3.address, s3.credentials) : readDiskBlobs(blobsFolder(data));
}

/** The store as a message names it. */
export function nameOfBlobs({ s3, data }: Config): string {
  return s3 ? `the bucket ${s3.address.split('?')[0]}` : `the blob folder ${blobsFolder(data)}`;
}
