/** Requests with minimal work for the client, because benchmarks share the machine with the measured server. */
import { Agent, request } from 'node:http';

/** Status and body of a response. */
export interface BenchResponse {
  status: number;
  text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 2000 });

/** Sends a request over an idle connection and returns the whole response. */
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
    const sent = request({ agent, hostname, port, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Closes the idle connections. */
export function closeConnections(): void {
  agent.destroy();
}
