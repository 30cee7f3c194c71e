/** Exits with 0 while the server of this container responds to `/healthz`; used by HEALTHCHECK of the image. */
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

const TIMEOUT_MS = 4000;
const { SWITCHYARD_PORT: port = '8080', SWITCHYARD_TLS, SWITCHYARD_TLS_CERT } = process.env;
const isSecure = Boolean(SWITCHYARD_TLS || SWITCHYARD_TLS_CERT);
const url = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}/healthz`;
// The certificate names the public host, and the connection does not leave the container.
const options = { timeout: TIMEOUT_MS, rejectUnauthorized: false };

const request = (isSecure ? getHttps : getHttp)(url, options, (response) => {
  response.resume();
  process.exitCode = response.statusCode === 200 ? 0 : 1;
  if (process.exitCode === 1) console.error(`${url} responded with ${response.statusCode}.`);
});
request.on('timeout', () => request.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)));
request.on('error', ({ message }) => {
  console.error(`${url}: ${message}`);
  process.exitCode = 1;
});
