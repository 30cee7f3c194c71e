/** Opens the blob store that the settings name. */
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { StorageConfig } from '../config.ts';
import type { BlobReader, BlobStore } from './blob-store.ts';
import { openDiskBlobReader, openDiskBlobs } from './disk.ts';
import { openS3BlobReader, openS3Blobs } from './s3.ts';
import { checkSharedFolder } from './shared-folder.ts';

type Settings = Pick<StorageConfig, 'data' | 's3' | 'sharedBlobs'>;

/** Returns the folder of the blobs; it has no meaning for blobs in a bucket. */
export function blobsFolder({ data, sharedBlobs }: Pick<Settings, 'data' | 'sharedBlobs'>): string {
  return sharedBlobs ?? join(data, 'blobs');
}

/**
 * Opens the store. `owner` distinguishes this process from others that share the folder. Throws ConfigError when a shared
 * folder lacks what blobs need, and S3Error when the bucket is unreachable.
 */
export async function openBlobs(settings: Settings, owner: string, clock: Clock): Promise<BlobStore> {
  const { s3, data, sharedBlobs } = settings;
  if (s3) return openS3Blobs(s3.address, s3.credentials, { spool: join(data, 'spool') });
  if (sharedBlobs === null) return openDiskBlobs(blobsFolder(settings));
  await checkSharedFolder(sharedBlobs, owner, clock);
  return openDiskBlobs(sharedBlobs, owner);
}

/** Opens the store for reading alone. */
export async function openBlobReader(settings: Settings): Promise<BlobReader> {
  const { s3 } = settings;
  return s3 ? openS3BlobReader(s3.address, s3.credentials) : openDiskBlobReader(blobsFolder(settings));
}

/** Returns the name of the store for messages. */
export function describeBlobStore(settings: Settings): string {
  const { s3 } = settings;
  return s3 ? `the bucket ${s3.address.split('?')[0]}` : `the blob folder ${blobsFolder(settings)}`;
}
