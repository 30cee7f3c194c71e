/** Opens an address in the browser of the person. */
import { spawn } from 'node:child_process';
import type { Terminal } from './terminal.ts';

/**
 * Starts the browser and returns whether there is one to start: the program of `BROWSER`, or the one that the system has for
 * addresses. A machine without a screen has none. No shell is involved, because the address comes from the server.
 */
export function openBrowser(
  { env }: Pick<Terminal, 'env'>,
  url: string,
  platform: string = process.platform,
): boolean {
  const command = findCommand(env, platform);
  if (!command || !/^https?:\/\//.test(url)) return false;
  const [program, ...args] = command;
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true, env: { ...env } });
  // The address is printed too, so a browser that does not start stops nobody.
  child.on('error', () => {});
  child.unref();
  return true;
}

function findCommand(env: Terminal['env'], platform: string): [string, ...string[]] | null {
  if (env.BROWSER) return [env.BROWSER];
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : null;
}
