/** Requests with as little work for the client as there can be: benchmarks share the machine with what they measure. */
import { Agent, request } from 'node:http';

export interface BenchResponse {
  status: number;
  text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 2000 });

export function sendRequest(
  server: { url: string; token: string },
  method: string,
  path: string,
  body?: string,
): Promise<BenchResponse> {
  const { port, hostname } = new URL(server.url);
  const json = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body ?? '') };
  const headers = { authorization: `Bearer ${server.token}`, ...(body === undefined ? {} : json) };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, method, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Closes the connections that are kept. */
export function closeConnections(): void {
  agent.destroy();
}
