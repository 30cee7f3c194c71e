/** The API's own descriptions, as they were generated from the contract and checked in. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { DOCUMENT_NAMES, type DocumentName, documentPlace } from '@switchyard/contract/openapi.ts';
import type { FastifyInstance } from 'fastify';
import { type FixedFile, sendFile } from './fixed-file.ts';

export async function serveDocuments(app: FastifyInstance): Promise<void> {
  for (const name of DOCUMENT_NAMES) await serveDocument(app, name);
}

async function serveDocument(app: FastifyInstance, name: DocumentName): Promise<void> {
  const path = fileURLToPath(documentPlace(name));
  const plain = await readFile(path);
  const file: FixedFile = {
    type: 'application/json; charset=utf-8',
    cacheControl: 'no-cache',
    plain,
    // Made anew at every start, so only what takes a few milliseconds.
    compressed: { gzip: gzipSync(plain) },
  };
  app.get(`/openapi/${name}.json`, async (request, reply) =>
    sendFile(
      request,
      reply.header('access-control-allow-origin', '*').header('x-content-type-options', 'nosniff'),
      file,
    ),
  );
}
