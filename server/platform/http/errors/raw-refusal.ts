/** Responses to bytes that are no request, on connections without a response object. */
import { formatErrorBody } from './problem.ts';

/** Returns a whole 400 response of HTTP/1.1 that closes the connection. */
export function formatRawRefusal(message: string): string {
  const body = JSON.stringify(formatErrorBody(400, message));
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
