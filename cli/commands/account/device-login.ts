/** Sign-in with the browser (RFC 8628): the person approves a code in the console, here or on another machine. */
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { DEVICE_CODE_HEADER } from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { isRetryable } from '../../errors/retry.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { openBrowser } from '../../terminal/open-browser.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const FAILED_READS_MAX = 10;

/**
 * Prints address and code, opens the browser if wanted, and waits for the decision. Returns the token of the new key.
 * Throws when the person denies, or nobody decides before the code expires.
 */
export async function logInByDevice(
  client: Client,
  terminal: Terminal,
  opensBrowser: boolean,
): Promise<string> {
  const client_name = `switchyard on ${hostname()}`.slice(0, NAME_CHARS_MAX);
  const { body: codes } = await client.call('startDeviceAuthorization', { body: { client_name } });
  const address = cleanLine(codes.verification_uri_complete);
  terminal.err.write(`Open ${address}\nand approve the code ${cleanLine(codes.user_code)}.\n`);
  if (opensBrowser) openBrowser(terminal, address);
  terminal.err.write('Waiting for the approval …\n');
  await waitForApproval(client, codes, terminal.signal);
  const redeemed = await client.call('redeemDeviceAuthorization', {
    body: { device_code: codes.device_code },
  });
  return redeemed.body.token;
}

interface Codes {
  device_code: string;
  expires_in: number;
  interval: number;
}

async function waitForApproval(client: Client, codes: Codes, signal: AbortSignal): Promise<void> {
  const headers = { [DEVICE_CODE_HEADER]: codes.device_code };
  // A server that asks for less would be read in a loop.
  const pauseMs = Math.max(1, codes.interval) * 1000;
  for (let failures = 0; ; ) {
    try {
      const { body } = await client.call('getDeviceAuthorizationStatus', { headers, signal });
      failures = 0;
      if (body.status === 'approved') return;
      if (body.status === 'denied')
        throw new CommandError('The sign-in was denied in the console.', EXIT_CODES.forbidden);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404)
        throw new CommandError(
          `Nobody approved the code within ${Math.round(codes.expires_in / 60)} minutes. Sign in again.`,
          EXIT_CODES.forbidden,
        );
      failures += 1;
      if (!isRetryable(error) || failures > FAILED_READS_MAX) throw error;
    }
    await wait(pauseMs, undefined, { signal });
  }
}
