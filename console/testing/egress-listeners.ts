/** Listeners that receive what leaves a browser: TCP and UDP on a port of this machine, and a resolver that answers every name. */
import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@switchyard/browser-testing/browser.ts';

const LOOPBACK = '127.0.0.1';
/** An address of this machine at which no resolver of the system listens. */
const RESOLVER = '127.0.0.153';
const DNS_PORT = 53;

/** A port on which every connection and datagram is received. */
export interface EgressListener {
  /** `127.0.0.1` with the port. */
  readonly host: string;
  readonly connections: number;
  readonly datagrams: number;
  close(): Promise<void>;
}

/** Listens on one port for connections and datagrams. Nobody gets an answer. */
export async function listenForEgress(): Promise<EgressListener> {
  const received = { connections: 0, datagrams: 0 };
  const server = createServer((socket) => {
    received.connections += 1;
    socket.on('error', () => {});
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  const { port } = server.address() as AddressInfo;
  const udp = createSocket('udp4', () => {
    received.datagrams += 1;
  });
  await bind(udp, port, LOOPBACK);
  return {
    host: `${LOOPBACK}:${port}`,
    get connections() {
      return received.connections;
    },
    get datagrams() {
      return received.datagrams;
    },
    async close() {
      await Promise.all([
        new Promise((resolve) => server.close(resolve)),
        new Promise<void>((resolve) => udp.close(resolve)),
      ]);
    },
  };
}

/** A resolver that notes every name, and a browser that asks it. */
export interface NameListener {
  readonly names: readonly string[];
  /** A program that starts the given browser so that this resolver is the only one. */
  readonly program: string;
  close(): Promise<void>;
}

/** Returns undefined for a person who may not listen on the port of DNS, and without bubblewrap. */
export async function listenForNames(browser: string): Promise<NameListener | undefined> {
  const bubblewrap = findProgram(['bwrap']);
  if (bubblewrap === undefined) return undefined;
  const names: string[] = [];
  const socket = createSocket('udp4', (query, { port, address }) => {
    const { name, response } = respondToQuery(query);
    names.push(name);
    socket.send(response, port, address);
  });
  try {
    await bind(socket, DNS_PORT, RESOLVER);
  } catch {
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-resolver-'));
  const settings = join(folder, 'resolv.conf');
  const program = join(folder, 'browser');
  writeFileSync(settings, `nameserver ${RESOLVER}\n`);
  const command = [
    ...[bubblewrap, '--dev-bind', '/', '/'],
    ...['--ro-bind', settings, realpathSync('/etc/resolv.conf'), '--', browser],
  ];
  writeFileSync(program, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`, {
    mode: 0o755,
  });
  return {
    names,
    program,
    async close() {
      await new Promise<void>((resolve) => socket.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}

function bind(socket: Socket, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, address, resolve);
  });
}

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** Returns the name in a query of DNS, and a response: this machine for its IPv4 address, and nothing else (RFC 1035). */
function respondToQuery(query: Buffer): { name: string; response: Buffer } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const isAddress = query.readUInt16BE(at + 1) === TYPE_A;
  const header = Buffer.from([
    ...query.subarray(0, 2),
    ...[0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0],
  ]);
  // The name by a pointer to the query, the type, the class, a second to live, and four bytes.
  const record = [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1];
  const end = at + 1 + 4;
  return {
    name: labels.join('.'),
    response: Buffer.concat([
      header,
      query.subarray(HEADER_BYTES, end),
      Buffer.from(isAddress ? record : []),
    ]),
  };
}
