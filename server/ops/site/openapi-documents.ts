/** Serves the OpenAPI documents, which are generated from the contract and checked in. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { DOCUMENT_NAMES, type DocumentName, documentUrl } from '@switchyard/contract/openapi/documents.ts';
import type { FastifyInstance } from 'fastify';
import { memoizeByObject } from '../../platform/memoize.ts';
import { type StaticFile, sendStaticFile } from './static-file.ts';

/** Registers `/openapi/<name>.json` for each document, readable from every origin. */
export async function serveOpenApiDocuments(app: FastifyInstance): Promise<void> {
  for (const name of DOCUMENT_NAMES) await serveDocument(app, name);
}

async function serveDocument(app: FastifyInstance, name: DocumentName): Promise<void> {
  const path = fileURLToPath(documentUrl(name));
  const plain = await readFile(path);
  const getFile = memoizeByObject(createFile);
  app.get(`/openapi/${name}.json`, async (request, reply) =>
    sendStaticFile(
      request,
      reply.header('access-control-allow-origin', '*').header('x-content-type-options', 'nosniff'),
      getFile(plain),
    ),
  );
}

/** Compresses the document, when the first request asks for it: most processes get none. Brotli would take seconds. */
function createFile(plain: Buffer): StaticFile {
  return {
    type: 'application/json; charset=utf-8',
    cacheControl: 'no-cache',
    plain,
    compressed: { gzip: gzipSync(plain) },
  };
}
