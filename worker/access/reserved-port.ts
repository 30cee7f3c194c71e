/**
 * A port of the loopback that this process holds and on which another process listens. The port of a dead process is free for
 * any program of the host, which would get the token of the run. A held one is not, and connections to it wait for the next
 * process.
 */
import net, { type AddressInfo } from 'node:net';
import { getSystemErrorName } from 'node:util';

export interface ReservedPort {
  port: number;
  /** For the channel to the process that listens, as often as there is another one. */
  handle: unknown;
  close(): void;
}

interface Handle {
  getsockname(address: Partial<AddressInfo>): number;
  close(): void;
}

/**
 * Binds a free port without listening on it. A server of this process would accept connections itself, and a `BoundSocket` can
 * be sent only once; Node's cluster module shares its ports by this function.
 */
export function reservePort(): ReservedPort {
  const bind: unknown = Reflect.get(net, '_createServerHandle');
  if (typeof bind !== 'function') throw new Error('This version of Node cannot reserve a port.');
  const handle: unknown = Reflect.apply(bind, net, ['127.0.0.1', 0, 4]);
  if (typeof handle === 'number') throw createError(handle);
  if (!isHandle(handle)) throw new Error('This version of Node reserves ports in another way.');
  const address: Partial<AddressInfo> = {};
  const error = handle.getsockname(address);
  if (error === 0 && address.port !== undefined)
    return { port: address.port, handle, close: () => handle.close() };
  handle.close();
  throw createError(error);
}

function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && 'getsockname' in value && 'close' in value;
}

function createError(number: number): Error {
  const code = getSystemErrorName(number);
  return Object.assign(new Error(`A port of the loopback cannot be reserved: ${code}`), { code });
}
