/** The API's own description, as it was generated from the contract and checked in. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { type FixedFile, sendFile } from './fixed-file.ts';

export async function serveDocuments(app: FastifyInstance): Promise<void> {
  const path = fileURLToPath(import.meta.resolve('@switchyard/contract/openapi/cloud.json'));
  const plain = await readFile(path);
  const file: FixedFile = {
    type: 'application/json; charset=utf-8',
    cacheControl: 'no-cache',
    plain,
    // Made anew at every start, so only what takes a few milliseconds.
    compressed: { gzip: gzipSync(plain) },
  };
  app.get('/openapi/cloud.json', async (request, reply) =>
    sendFile(
      request,
      reply.header('access-control-allow-origin', '*').header('x-content-type-options', 'nosniff'),
      file,
    ),
  );
}
