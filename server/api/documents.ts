/** The API's own description, as it was generated from the contract and checked in. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

export async function serveDocuments(app: FastifyInstance): Promise<void> {
  const path = fileURLToPath(import.meta.resolve('@switchyard/contract/openapi/cloud.json'));
  const document = await readFile(path, 'utf8');
  app.get('/openapi/cloud.json', async (_request, reply) =>
    reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('access-control-allow-origin', '*')
      .header('cache-control', 'no-cache')
      .send(document),
  );
}
