/**
 * Uploads and downloads by signed URLs. The body of an upload is streamed to the blob store and stored in the database when
 * it is complete, so a partial upload is never visible to its users. A URL works for one content. Uploads expire after a day,
 * also unfinished ones with their parts; users of an upload share its content and keep it.
 */
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import {
  DOWNLOAD_URL_TTL_SECONDS,
  UPLOAD_RETENTION_MS,
  UPLOAD_URL_TTL_SECONDS,
} from '@switchyard/contract/limits.ts';
import type { KeyId, RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { Contents, SharedContent } from '../../platform/blobs/contents.ts';
import type { InstallationIdentity } from '../../platform/blobs/identity.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { UrlSigner } from '../../platform/http/requests/signed-url.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { EMPTY_ARCHIVE_ID } from './empty-archive.ts';
import { insertPart, type ReceivedPart } from './parts.ts';
import type { UploadsTable } from './schema.ts';
import {
  deleteUploadsBefore,
  findLatestUpload,
  findUpload,
  insertUpload,
  requireUploadCapacity,
} from './store.ts';

const CLEAN_UP_INTERVAL_MS = 10 * 60 * 1000;
const CLEAN_UP_BATCH_SIZE = 500;

interface UploadServices {
  database: Database;
  contents: Contents;
  identity: InstallationIdentity;
  signer: UrlSigner;
  clock: Clock;
  random: Random;
}

/** Creates uploads and their URLs, and shares their contents with users. */
export class Uploads {
  readonly #services: UploadServices;
  /** The parts that `beginCutPart` has begun, by upload; each promise resolves at its end. */
  readonly #cutParts = new Map<string, Promise<void>>();

  constructor(services: UploadServices) {
    this.#services = services;
  }

  /** Creates an upload in its own transaction, for an operation without an audit entry, after `check` in that transaction. */
  async create(
    applicationUid: string,
    purpose: UploadsTable['purpose'],
    key: KeyId,
    check: (tx: Writer) => Promise<void>,
  ): Promise<Upload> {
    const { upload, insert } = this.prepare(applicationUid, purpose, key);
    await this.#services.database.transact(async (tx) => {
      await check(tx);
      await insert(tx);
    });
    return upload;
  }

  /**
   * Prepares an upload for the application. Its URL is valid for UPLOAD_URL_TTL_SECONDS and while the key exists. Call
   * `insert` in the transaction of the effect; for the app of a run it throws a 400 beyond the uploads of one run.
   */
  prepare(
    applicationUid: string,
    purpose: UploadsTable['purpose'],
    key: KeyId,
    run: RunId | null = null,
  ): { upload: Upload; insert(tx: Writer): Promise<void> } {
    const { signer, clock, random } = this.#services;
    const id = makeId<UploadId>(random, 'upl');
    const upload = {
      upload_id: id,
      upload_url: signer.sign('PUT', `/v1/uploads/${id}`, UPLOAD_URL_TTL_SECONDS, { key }),
    };
    const insert = async (tx: Writer): Promise<void> => {
      if (run !== null) await requireUploadCapacity(tx, run);
      const latest =
        purpose === 'executable' ? await findLatestUpload(tx, applicationUid, purpose) : undefined;
      await insertUpload(tx, {
        id,
        application_uid: applicationUid,
        purpose,
        content_id: null,
        ...{ attempt: null, partial_bytes: 0, continued_at: null, run_id: run },
        // Strictly increasing: of two uploads requested in one millisecond, the later one must be the latest.
        created_at: Math.max(clock.now(), (latest?.created_at ?? 0) + 1),
      });
    };
    return { upload, insert };
  }

  /**
   * Begins to store the bytes of a part whose connection broke. Call the returned function when it has ended. A caller that
   * connects again within milliseconds then gets the offset after these bytes, and does not send them again.
   */
  beginCutPart(id: UploadId): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#cutParts.set(id, promise);
    return () => {
      if (this.#cutParts.get(id) === promise) this.#cutParts.delete(id);
      resolve();
    };
  }

  /** Waits until the bytes of a part whose connection broke are stored. */
  async waitForCutPart(id: UploadId): Promise<void> {
    await this.#cutParts.get(id);
  }

  /** Stores a part in its own transaction; the transaction that completes the upload has the audit entry. */
  async storePart(part: ReceivedPart): Promise<void> {
    const { database, clock } = this.#services;
    await database.transact((tx) => insertPart(tx, part, clock.now()));
  }

  /** Shares the content of an upload of the application; throws a 400 that names `field` for an upload without content. */
  async use(
    applicationUid: string,
    id: UploadId | null,
    purpose: UploadsTable['purpose'],
    field: string,
  ): Promise<SharedContent> {
    const { database, contents } = this.#services;
    const upload =
      id === null
        ? await findLatestUpload(database.read, applicationUid, purpose)
        : await findUpload(database.read, id);
    if (!upload && id === null)
      throw badRequest('No executable was uploaded; request an upload URL and PUT the archive there first.');
    if (!upload || upload.application_uid !== applicationUid || upload.purpose !== purpose) {
      throw badRequest(
        `${field} is ${quoteValue(id)}; it must be an upload of this application that is less than a day old.`,
      );
    }
    const content = upload.content_id === null ? undefined : await contents.share(upload.content_id);
    if (!content)
      throw badRequest(`${field} is ${quoteValue(upload.id)}; nothing has been PUT to its URL yet.`);
    return content;
  }

  /** Returns a URL that reads an archive without files. */
  emptyArchiveUrl(): string {
    return this.downloadUrl(EMPTY_ARCHIVE_ID, 'application/gzip');
  }

  /** Returns a URL that reads the content without a token, for DOWNLOAD_URL_TTL_SECONDS. */
  downloadUrl(contentId: string, type: string): string {
    return this.#services.signer.sign('GET', `/v1/downloads/${contentId}`, DOWNLOAD_URL_TTL_SECONDS, {
      type,
    });
  }

  /** Removes expired uploads, then blobs without a row. */
  removeExpiredUploadsJob(context: JobContext): Job {
    const { database, contents, identity, clock } = this.#services;
    return defineJob(context, {
      name: 'remove-expired-uploads',
      intervalMs: CLEAN_UP_INTERVAL_MS,
      async handle() {
        for (;;) {
          const removed = await database.transact(async (tx) => {
            const before = clock.now() - UPLOAD_RETENTION_MS;
            const ids = await deleteUploadsBefore(tx, before, CLEAN_UP_BATCH_SIZE);
            return { rows: ids.length, blobs: await contents.remove(tx, ids) };
          });
          await contents.removeBlobs(removed.blobs);
          if (removed.rows < CLEAN_UP_BATCH_SIZE) break;
        }
        await contents.cleanUp(identity);
        await identity.advanceGeneration();
      },
    });
  }
}
