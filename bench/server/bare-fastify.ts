/**
 * The baseline of the benchmark: Fastify that returns the server's responses for creating a run and reading its
 * metadata, without doing any work. `node bare-fastify.ts` prints its port.
 */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';

const app = Fastify({ logger: false });
let metadata: unknown = {};
app.put('/metadata', async (request) => {
  metadata = request.body;
  return { kept: true };
});
app.post('/v1/applications/:application_id/runs', async (_request, reply) => {
  reply.code(202);
  return { run_id: 'run-0123456789abcdef' };
});
app.get('/v1/applications/:application_id/runs/:run_id/metadata', async () => metadata);
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
