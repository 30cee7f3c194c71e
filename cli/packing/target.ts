/** The host that an app is packed for: the one that runs the server's apps. */
import type { Client } from '@switchyard/contract/client.ts';

export interface Target {
  /** As Node names it: `linux` or `darwin`. */
  platform: string;
  /** As Node names it: `x64` or `arm64`. */
  architecture: string;
  /** Major and minor version of Python, such as `3.11`; empty when it is not known. */
  python: string;
}

/** This machine; the version of its Python is not asked for. */
export const LOCAL_TARGET: Target = { platform: process.platform, architecture: process.arch, python: '' };

/** The host of the server. A server that runs no apps itself does not say; this machine is assumed then. */
export async function fetchTarget(client: Client): Promise<Target> {
  const { body } = await client.call('getReadiness');
  const [platform, architecture] = (body.runtimes.binary?.version ?? '').split('-');
  if (!platform || !architecture) return LOCAL_TARGET;
  return { platform, architecture, python: readPythonVersion(body.runtimes) };
}

/** Returns the version of Python among the runtimes of a host, in the form of a target. */
export function readPythonVersion({ python }: { python?: { version: string } | undefined }): string {
  return /^\d+\.\d+/.exec(python?.version ?? '')?.[0] ?? '';
}

/** Such as `linux-x64`. */
export function formatTarget(target: Target): string {
  return `${target.platform}-${target.architecture}`;
}

/** The architecture in the words of Go, Docker and the manifest. */
export function formatArchitecture(target: Target): string {
  return target.architecture === 'x64' ? 'amd64' : target.architecture;
}
